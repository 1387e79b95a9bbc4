"""What a graph with symbolic sizes has to say to be compiled for any of them."""
from dataclasses import dataclass

import torch

from .._compile import compile_any_size


@dataclass(frozen=True)
class OpenSizes:
    """The symbolic sizes of a graph's placeholders.

    names  of the symbols; axes  (placeholder, dimension, name) of tensors
    """

    names: tuple
    axes: tuple


def open_sizes(module):
    """OpenSizes of a GraphModule; None where a size of a tensor is more than a symbol, or a symbol is
    no tensor's, so that it cannot be read off the inputs' shapes."""
    axes, numbers = [], set()
    for node in module.graph.find_nodes(op="placeholder"):
        meta = node.meta.get("val")
        if isinstance(meta, torch.SymInt):
            numbers |= {str(s) for s in meta.node.expr.free_symbols}
        if not isinstance(meta, torch.Tensor):
            continue
        for dimension, size in enumerate(meta.shape):
            if not isinstance(size, torch.SymInt):
                continue
            if not size.node.expr.is_symbol:
                return None
            axes.append((node.name, dimension, str(size.node.expr)))
    names = tuple(dict.fromkeys(name for _, _, name in axes))
    if not names or numbers - set(names):
        return None
    return OpenSizes(names, tuple(axes))


def compile_sized(sizes, example, imported_at, options):
    """An Executable for any sizes.

    sizes        OpenSizes
    example      a number for each of its names
    imported_at  makes the ImportedGraph for a dict of numbers by name
    """
    ports = imported_at(example).inputs
    placed = {port.source: (i, port.order) for i, port in enumerate(ports)}
    open_axes = []
    for placeholder, dimension, name in sizes.axes:
        if placeholder not in placed:
            continue  # nothing reads it
        place, order = placed[placeholder]
        axis = dimension if order is None else order.index(dimension)
        open_axes.append((place, axis, sizes.names.index(name)))

    def text_at(numbers):
        graph = imported_at(dict(zip(sizes.names, numbers)))
        return graph.text, graph.weights

    return compile_any_size(text_at, list(sizes.names), [example[name] for name in sizes.names],
                            open_axes, **options)
