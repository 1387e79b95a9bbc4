"""python -m tunec.torch MODEL.pt2 -o MODEL.graph

Writes an exported program as a .graph, its weights in the .safetensors beside it. A TorchScript
file goes through torch's own converter and needs its inputs: --input "f32[1, 3, 224, 224]" for
each. --open batch=x:0 leaves the first size of the input x open, under the name batch. The option
`--dim batch=1,8` of `tunec` then sets the sizes to compile for.
"""
import argparse
import pathlib
import re
import sys
import zipfile

import torch

from .archive import load_program
from .element_types import element_type, torch_dtype
from .errors import UnsupportedOperator
from .named_sizes import samples_for, symbol_of, text_for
from .program import import_program, importable
from .safetensors import write_safetensors
from .same_model import are_equal


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


def _open_sizes(program, texts):
    """Parses a list of NAME=INPUT:AXIS. Returns the symbol of each axis by name."""
    found = {}
    for text in texts:
        name, _, axis = text.partition("=")
        if not name.isidentifier():
            raise _Mistake(f"--open is {text!r}, expected NAME=INPUT:AXIS")
        found[name] = symbol_of(program, axis)
    return found


def _import_open(program, sizes, opened, name):
    """Returns the ImportedGraph at the first sample sizes, and the text with names for dynamic sizes."""
    symbols = list(opened.values())
    first = samples_for(program, symbols)[0]
    program = importable(program, {**sizes, **dict(zip(symbols, first))})
    graphs = {}

    def text_at(sample):
        if sample not in graphs:
            all_sizes = {**sizes, **dict(zip(symbols, sample))}
            graphs[sample] = import_program(program, sizes=all_sizes, name=name)
        return graphs[sample].text

    text = str(text_for(program, symbols, list(opened), text_at))
    graph, *others = graphs.values()
    for key in graph.nameless[1]:  # the .safetensors file holds one tensor per key
        if not all(are_equal(graph.weights[key], other.weights[key]) for other in others):
            raise ValueError(f"the constant {key} differs at other sizes")
    return graph, text


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
        graph, text = _import_open(program, _sizes(options.size), opened, options.model.stem)
    else:
        graph = import_program(program, sizes=_sizes(options.size), name=options.model.stem)
        text = graph.text
    if graph.weights:
        write_safetensors(output.with_suffix(".safetensors"), graph.weights)
    output.write_text(text, encoding="utf-8")
    print(f"{output}: {len(graph.inputs)} inputs, {len(graph.outputs)} outputs, "
          f"{len(graph.weights)} weights")
    for name, target in graph.mutations.items():
        print(f"  the output {name} replaces {target}")


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
