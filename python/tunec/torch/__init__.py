"""Converts PyTorch graphs to tunec graphs; see README.md beside this file."""
from .archive import load_program
from .decompose import aot_decompositions, export_decompositions
from .errors import UnsupportedNode, UnsupportedOperator
from .imported_graph import ImportedGraph, Port
from .importer import import_graph, unsupported
from .module import CompiledModule, compile_module, compile_program_file
from .program import import_program

__all__ = ["CompiledModule", "ImportedGraph", "Port", "UnsupportedNode", "UnsupportedOperator", "aot_decompositions",
           "compile_module", "compile_program_file", "export_decompositions", "import_graph", "import_program",
           "load_program", "unsupported"]
