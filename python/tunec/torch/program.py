"""Imports exported programs as graphs."""
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch.export.graph_signature import InputKind, OutputKind

from .decompose import export_decompositions
from .handler_table import handler_of
from .imported_graph import ImportedGraph
from .importer import import_graph, unsupported
from .own_decompositions import own_rules

if TYPE_CHECKING:
    from torch import fx
    from torch.export import ExportedProgram
    from torch.export.graph_signature import ExportGraphSignature, InputSpec, OutputSpec

_WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)


def import_program(program: ExportedProgram, *, sizes: Mapping[str, int] | None = None,
                   name: str = "model") -> ImportedGraph:
    """Imports a torch.export.ExportedProgram. Parameters and buffers become weights. Buffers that
    the program changes become inputs, and their new values outputs (`mutations`)."""
    program = importable(program, sizes)
    return import_graph(program.graph_module, weights=weights_of(program), sizes=sizes,
                        mutated=mutations_of(program), name=name)


def importable(program: ExportedProgram, sizes: Mapping[str, int] | None = None) -> ExportedProgram:
    """Returns the program unchanged if every node can be imported and no operator writes its
    operands, else the decomposed program. Decomposing traces again, which takes much longer than an
    import."""
    handled = all(_is_number(node) or _has_handler(node.target)
                  for node in program.graph_module.graph.nodes if node.op == "call_function")
    # A handler may reject arguments that a decomposition supports, so the import is tried as well.
    if handled and not unsupported(program.graph_module, sizes=sizes):
        return program
    with own_rules():
        return program.run_decompositions(export_decompositions())


def _is_number(node: fx.Node) -> bool:
    """Tests if a node makes a number from sizes, which needs no handler."""
    return isinstance(node.meta.get("val"), (int, float, torch.SymInt, torch.SymFloat, torch.SymBool))


def _has_handler(target: object) -> bool:
    if target is operator.getitem:
        return True
    return (isinstance(target, torch._ops.OpOverload) and not target._schema.is_mutable and
            handler_of(target) is not None)


def mutations_of(program: ExportedProgram) -> list[str | None]:
    """Returns, for each output of the program's graph, the placeholder that it replaces, or
    None."""
    signature = program.graph_signature
    return [_replaced(signature, spec) for spec in signature.output_specs]


def weights_of(program: ExportedProgram) -> dict[str, tuple[str, torch.Tensor]]:
    """Returns (key, tensor) of each constant weight, by the name of its placeholder."""
    changed = set(mutations_of(program))
    return {spec.arg.name: (spec.target, _tensor(program, spec))
            for spec in program.graph_signature.input_specs
            if spec.kind in _WEIGHTS and spec.arg.name not in changed}


def _replaced(signature: ExportGraphSignature, spec: OutputSpec) -> str | None:
    """Returns the placeholder that an output replaces, or None."""
    if spec.kind not in _MUTATIONS:
        return None
    if spec.kind == OutputKind.USER_INPUT_MUTATION:
        return spec.target
    return next(s.arg.name for s in signature.input_specs if s.target == spec.target)


def _tensor(program: ExportedProgram, spec: InputSpec) -> torch.Tensor:
    if spec.kind == InputKind.PARAMETER:
        return program.state_dict[spec.target]
    if spec.target in program.state_dict:
        return program.state_dict[spec.target]
    return program.constants[spec.target]
