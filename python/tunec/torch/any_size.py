"""The symbolic sizes of a torch graph."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch


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


def open_sizes(module: torch.fx.GraphModule) -> OpenSizes | None:
    """Returns the OpenSizes of a GraphModule. Returns None if there are no symbolic sizes, or if the
    inputs' shapes do not determine all symbols: a tensor's size is an expression of symbols, or a
    symbol is the size of no tensor."""
    axes, numbers = [], set()
    for node in module.graph.find_nodes(op="placeholder"):
        meta = node.meta.get("val")
        if isinstance(meta, (torch.SymInt, torch.SymFloat)):
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
