"""What a graph with symbolic sizes has to say to be compiled for any of them."""
from dataclasses import dataclass, field

import torch

from .._compile import compile_any_size
from .errors import UnsupportedOperator


@dataclass(frozen=True)
class OpenSizes:
    """The symbolic sizes of a graph's placeholders.

    names  of the symbols; axes  (placeholder, dimension, name) of tensors
    ties   for symbols that are always equal to one of `names`, that one
    """

    names: tuple
    axes: tuple
    ties: dict = field(default_factory=dict)

    def of(self, shape_of):
        """A number for each name, by the shapes of placeholders; None where one has several."""
        numbers: dict[str, int] = {}
        for placeholder, dimension, name in self.axes:
            size = shape_of(placeholder)[dimension]
            if numbers.setdefault(name, size) != size:
                return None
        return numbers

    def all_symbols(self, numbers):
        """Numbers for tied symbols, too."""
        return {**numbers, **{symbol: numbers[name] for symbol, name in self.ties.items()}}


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


def with_ties(sizes, example, imported_at):
    """Where torch has two symbols for a size that has to be one, as those of a batch and its mask,
    ties them: they are equal in the example, and the graph is another one where they are not."""
    names: list[str] = []
    ties: dict[str, str] = {}
    for name in sizes.names:
        tied = next((other for other in names if example[other] == example[name]
                     and not _may_differ(name, other, example, imported_at)), None)
        if tied is None:
            names.append(name)
        else:
            ties[name] = tied
    axes = tuple((placeholder, dimension, ties.get(name, name))
                 for placeholder, dimension, name in sizes.axes)
    return OpenSizes(tuple(names), axes, ties)


def _may_differ(one, other, example, imported_at):
    """Whether the graph has as many lines where one of two sizes is larger than the other."""
    try:
        graphs = [imported_at({**example, name: example[name] + 8}) for name in (one, other)]
    except UnsupportedOperator:
        return False
    lines = imported_at(example).text.count("\n")
    return all(graph.text.count("\n") == lines for graph in graphs)


def compile_sized(sizes, example, imported_at, options, follows_rules=False):
    """An Executable for any sizes.

    sizes          OpenSizes
    example        a number for each of its names
    imported_at    makes the ImportedGraph for a dict of numbers by name
    follows_rules  that of compile_any_size
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
                            open_axes, follows_rules=follows_rules, **options)
