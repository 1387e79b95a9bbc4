"""The symbolic sizes of a torch graph."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx


@dataclass(frozen=True)
class OpenSizes:
    """The symbolic sizes of a graph's placeholders.

    names: the names of the symbols.
    axes: (placeholder, dimension, name) of all symbolic dimensions of tensors.
    ties: a dict. A symbol that always equals one of `names` is mapped to this name.
    """

    names: tuple[str, ...]
    axes: tuple[tuple[str, int, str], ...]
    ties: dict[str, str] = field(default_factory=dict)

    def of(self, shape_of: Callable[[str], Sequence[int]]) -> dict[str, int] | None:
        """Returns a number for each name, from the shapes of placeholders. Returns None if a name has
        several numbers."""
        numbers: dict[str, int] = {}
        for placeholder, dimension, name in self.axes:
            size = shape_of(placeholder)[dimension]
            if numbers.setdefault(name, size) != size:
                return None
        return numbers

    def all_symbols(self, sizes: Mapping[str, int | str]) -> dict[str, int | str]:
        """Returns `sizes` with the sizes of tied symbols added."""
        return {**sizes, **{symbol: sizes[name] for symbol, name in self.ties.items()}}

    def tied(self, ties: Mapping[str, str]) -> OpenSizes:
        """Returns these sizes with further symbols tied to names."""
        names = tuple(name for name in self.names if name not in ties)
        axes = tuple((placeholder, dimension, ties.get(name, name))
                     for placeholder, dimension, name in self.axes)
        return OpenSizes(names, axes, {**{s: ties.get(n, n) for s, n in self.ties.items()}, **ties})


def symbolic_sizes(nodes: Iterable[fx.Node]) -> list[tuple[torch.SymInt, int, int | None]]:
    """Returns (size, index of the node, dimension) for each symbolic size of values. The dimension is
    None if the value is the size itself."""
    found = []
    for i, node in enumerate(nodes):
        meta = node.meta.get("val")
        sizes: dict[int | None, Any] = {None: meta} if isinstance(meta, torch.SymInt) else {}
        if isinstance(meta, torch.Tensor):
            sizes = dict(enumerate(meta.shape))
        found += [(size, i, dimension) for dimension, size in sizes.items()
                  if isinstance(size, torch.SymInt)]
    return found


def determined_symbols(nodes: Iterable[fx.Node]) -> set[Any]:
    """Returns the symbols that are a size of the nodes' values, not only a part of an expression."""
    return {size.node.expr for size, *_ in symbolic_sizes(nodes) if size.node.expr.is_symbol}


def open_sizes(module: fx.GraphModule) -> OpenSizes | None:
    """Returns the OpenSizes of a GraphModule. Returns None if there are no symbolic sizes, or if the
    inputs' shapes do not determine all symbols: a tensor's size is an expression of symbols, or a
    symbol is the size of no tensor."""
    placeholders = module.graph.find_nodes(op="placeholder")
    metas = [node.meta.get("val") for node in placeholders]
    numbers = {str(s) for meta in metas if isinstance(meta, (torch.SymInt, torch.SymFloat))
               for s in meta.node.expr.free_symbols}
    axes = [(placeholders[i].name, dimension, size.node.expr)
            for size, i, dimension in symbolic_sizes(placeholders) if dimension is not None]
    if not all(expression.is_symbol for *_, expression in axes):
        return None
    names = tuple(dict.fromkeys(str(expression) for *_, expression in axes))
    if not names or numbers - set(names):
        return None
    return OpenSizes(names, tuple((source, dimension, str(symbol)) for source, dimension, symbol in axes))
