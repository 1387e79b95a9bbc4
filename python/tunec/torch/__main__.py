"""python -m tunec.torch MODEL.pt2 -o MODEL.graph

Writes an exported program as a .graph, its weights in the .safetensors beside it. A TorchScript
file goes through torch's own converter and needs its inputs: --input "f32[1, 3, 224, 224]" for
each. --open batch=x:0 leaves the first size of the input x open, under the name batch. The option
`--dim batch=1,8` of `tunec` then sets the sizes to compile for.
"""
import argparse
import itertools
import pathlib
import re
import sys
import zipfile

import torch

from .archive import load_program
from .element_types import element_type, torch_dtype
from .errors import UnsupportedOperator
from .importer import import_graph
from .program import import_program, importable, mutations_of, weights_of
from .safetensors import write_safetensors


class _Mistake(Exception):
    """An error that the user can fix."""


def _example(text):
    """Returns an example tensor of a type, such as "f32[1, 3]" in the syntax of the .graph text.
    Floats are random, and other elements are 0."""
    found = re.fullmatch(r"\s*(\w+)\s*\[\s*([\d\s,]*)\]\s*", text)
    names = {element_type(dtype) for dtype in (getattr(torch, n) for n in dir(torch))
             if isinstance(dtype, torch.dtype)} - {None}
    if not found or found[1] not in names:
        raise _Mistake(f"--input is {text!r}, expected a type such as f32[1, 3, 224, 224]")
    shape = [int(size) for size in found[2].split(",") if size.strip()]
    dtype = torch_dtype(found[1])
    if dtype.is_floating_point:
        return torch.randn(shape).to(dtype)
    return torch.zeros(shape, dtype=dtype)


def _sizes(texts):
    """Parses a list of SYMBOL=SIZE."""
    sizes = {}
    for text in texts:
        name, _, size = text.partition("=")
        if not size.isdigit():
            raise _Mistake(f"--size is {text!r}, expected SYMBOL=SIZE")
        sizes[name] = int(size)
    return sizes


def _symbol_of(program, place):
    """Returns the symbol of an axis "INPUT:AXIS". Raises ValueError if the axis is not dynamic."""
    name, _, axis = place.rpartition(":")
    shapes = {node.name: node.meta["val"].shape
              for node in program.graph.find_nodes(op="placeholder")
              if isinstance(node.meta.get("val"), torch.Tensor)}
    if name not in shapes or not axis.isdigit() or int(axis) >= len(shapes[name]):
        raise ValueError(f"{place!r} is not an axis of an input, expected INPUT:AXIS")
    size = shapes[name][int(axis)]
    if not isinstance(size, torch.SymInt) or not size.node.expr.is_symbol:
        raise ValueError(f"the size of {place} is {size}, expected a dynamic size")
    return str(size.node.expr)


def _open_sizes(program, texts):
    """Parses a list of NAME=INPUT:AXIS. Returns the symbol of each axis by name."""
    found = {}
    for text in texts:
        name, _, axis = text.partition("=")
        if not name.isidentifier():
            raise _Mistake(f"--open is {text!r}, expected NAME=INPUT:AXIS")
        found[name] = _symbol_of(program, axis)
    return found


def _import_open(program, sizes, opened, name):
    """Returns the ImportedGraph with names for dynamic sizes."""
    bounds = {str(symbol): bound for symbol, bound in program.range_constraints.items()}
    example = {}
    # Different examples show that sizes differ.
    for (axis, symbol), number in zip(opened.items(), itertools.count(37, 4)):
        least, most = (bounds[symbol].lower, bounds[symbol].upper) if symbol in bounds else (2, number)
        example[axis] = int(max(least, min(most, number)))
    numbers = {symbol: example[axis] for axis, symbol in opened.items()}
    program = importable(program, {**sizes, **numbers})
    graph = import_graph(program.graph_module, weights=weights_of(program), mutated=mutations_of(program),
                         sizes={**sizes, **{symbol: axis for axis, symbol in opened.items()}},
                         example=example, name=name)
    if graph.conditions.fixes_sizes():
        raise ValueError("the program's graph is only valid where "
                         f"{' and '.join(graph.conditions.described())}")
    return graph


def _is_torchscript(path):
    with zipfile.ZipFile(path) as archive:
        return any("/code/" in name for name in archive.namelist())


def _from_torchscript(path, inputs):
    """Converts a TorchScript file. torch deprecates TorchScript since 2.11, but still has a
    converter."""
    try:
        from torch._export.converter import TS2EPConverter
    except ImportError:
        raise _Mistake(f"{path} is TorchScript, for which torch {torch.__version__} has no "
                       "converter: export the module by torch.export instead") from None
    if not inputs:
        raise _Mistake(f"{path} is TorchScript, which does not say its inputs: "
                       "give each by --input")
    module = torch.jit.load(path, map_location="cpu").eval()
    return TS2EPConverter(module, tuple(_example(text) for text in inputs)).convert()


def _load(path, inputs):
    if not zipfile.is_zipfile(path):
        raise _Mistake(f"{path} is not an exported program, expected a zip archive of "
                       "torch.export.save")
    return _from_torchscript(path, inputs) if _is_torchscript(path) else load_program(path)


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m tunec.torch", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="a .pt2 of torch.export.save")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="the .graph to write")
    parser.add_argument("--input", action="append", default=[], metavar="TYPE",
                        help="an input of a TorchScript file, such as f32[1, 3]; may be repeated")
    parser.add_argument("--size", action="append", default=[], metavar="SYMBOL=N",
                        help="a size that the program leaves open; may be repeated")
    parser.add_argument("--open", action="append", default=[], metavar="NAME=INPUT:AXIS",
                        help="leaves the size of that axis open in the .graph, too, by this name; "
                        "may be repeated")
    return parser.parse_args(arguments)


def _convert(options):
    output = options.output or options.model.with_suffix(".graph")
    program = _load(options.model, options.input)
    opened = _open_sizes(program, options.open)
    if opened:
        graph = _import_open(program, _sizes(options.size), opened, options.model.stem)
    else:
        graph = import_program(program, sizes=_sizes(options.size), name=options.model.stem)
    if graph.weights:
        write_safetensors(output.with_suffix(".safetensors"), graph.weights)
    output.write_text(graph.text, encoding="utf-8")
    print(f"{output}: {len(graph.inputs)} inputs, {len(graph.outputs)} outputs, "
          f"{len(graph.weights)} weights")
    for name, target in graph.mutations.items():
        print(f"  the output {name} replaces {target}")
    for condition in graph.conditions.described():
        print(f"  the sizes must satisfy {condition}")


def main(arguments=None):
    options = _parse(arguments)
    try:
        _convert(options)
    except (UnsupportedOperator, _Mistake, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
