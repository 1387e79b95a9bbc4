"""The symbolic sizes of a torch graph, and compilation of such a graph with dynamic shapes."""
from dataclasses import dataclass, field

import torch

from .._compile import compile_any_size
from .errors import UnsupportedOperator


@dataclass(frozen=True)
class OpenSizes:
    """The symbolic sizes of a graph's placeholders.

    names: the names of the symbols.
    axes: (placeholder, dimension, name) of all symbolic dimensions of tensors.
    ties: a dict. A symbol that always equals one of `names` is mapped to this name.
    """

    names: tuple
    axes: tuple
    ties: dict = field(default_factory=dict)

    def of(self, shape_of):
        """Returns a number for each name, from the shapes of placeholders. Returns None if a name has
        several numbers."""
        numbers: dict[str, int] = {}
        for placeholder, dimension, name in self.axes:
            size = shape_of(placeholder)[dimension]
            if numbers.setdefault(name, size) != size:
                return None
        return numbers

    def all_symbols(self, numbers):
        """Returns `numbers` with the numbers of tied symbols added."""
        return {**numbers, **{symbol: numbers[name] for symbol, name in self.ties.items()}}


def open_sizes(module):
    """Returns the OpenSizes of a GraphModule. Returns None if there are no symbolic sizes, or if the
    inputs' shapes do not determine all symbols: a tensor's size is an expression of symbols, or a
    symbol is the size of no tensor."""
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
    """Returns `sizes` with equal symbols tied. torch may have two symbols for one size, such as the
    batch sizes of an input and of a mask. Two symbols are tied if they are equal in the example, and
    if the graph changes when they differ."""
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
    """Returns True if the graph has the same number of lines when either of two sizes is larger than
    the other. Returns False if a graph has an unsupported operator."""
    try:
        graphs = [imported_at({**example, name: example[name] + 8}) for name in (one, other)]
    except UnsupportedOperator:
        return False
    lines = imported_at(example).text.count("\n")
    return all(graph.text.count("\n") == lines for graph in graphs)


def compile_sized(sizes, example, imported_at, options, follows_rules=False):
    """Compiles a graph with dynamic shapes. Returns an Executable.

    sizes          OpenSizes of the graph
    example        a number for each name
    imported_at    returns the ImportedGraph for a dict of numbers by name
    follows_rules  see compile_any_size
    """
    ports = imported_at(example).inputs
    placed = {port.source: (i, port.order) for i, port in enumerate(ports)}
    open_axes = []
    for placeholder, dimension, name in sizes.axes:
        if placeholder not in placed:
            continue  # no node reads the placeholder
        place, order = placed[placeholder]
        axis = dimension if order is None else order.index(dimension)
        open_axes.append((place, axis, sizes.names.index(name)))

    def text_at(numbers):
        graph = imported_at(dict(zip(sizes.names, numbers)))
        return graph.text, graph.weights

    return compile_any_size(text_at, list(sizes.names), [example[name] for name in sizes.names],
                            open_axes, follows_rules=follows_rules, **options)
