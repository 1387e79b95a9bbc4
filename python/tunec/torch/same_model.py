"""Executables with dynamic shapes, each shared by all graphs of one model.

Dynamo traces a model again if a size is 1. The graph for size 1 equals the graph with this size
dynamic, which was traced earlier or will be traced later. Both run on the same executables.
"""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from .any_size import compile_sized
from .errors import UnsupportedOperator

if TYPE_CHECKING:
    from .any_size import OpenSizes
    from .imported_graph import ImportedGraph

    ImportedAt = Callable[[Mapping[str, int]], ImportedGraph]

_LOCK = threading.Lock()
_MODELS: weakref.WeakSet[Model] = weakref.WeakSet()
_made = 0  # number of models made so far


def models_made() -> int:
    """Returns the number of models made so far. If it has grown, a model for other graphs may now
    exist."""
    return _made


class Model:
    """An executable with dynamic shapes, with the data to test if another graph is the same model.

    sizes          OpenSizes of its graph
    example        a number for each name
    imported_at    returns the ImportedGraph for a dict of numbers by name
    options        options of tunec.compile
    follows_rules  True if a formula that fits a few sizes is valid for all (plain_sizes.py)
    """

    def __init__(self, sizes: OpenSizes, example: Mapping[str, int], imported_at: ImportedAt,
                 options: Mapping[str, Any], follows_rules: bool) -> None:
        global _made
        graph = imported_at(example)
        positions = {port.source: position for position, port in enumerate(graph.inputs)}
        self.sizes, self.options, self._imported_at = sizes, options, imported_at
        self.follows_rules = follows_rules
        self._axes = [(positions[source], dimension, name) for source, dimension, name in sizes.axes
                      if source in positions]
        self._num_weights = len(graph.nameless[1])
        self.executable = compile_sized(sizes, example, imported_at, options, follows_rules)
        with _LOCK:
            _MODELS.add(self)
            _made += 1

    def computes(self, graph: ImportedGraph) -> bool:
        """Tests if the model at some sizes equals this graph."""
        sizes = self._sizes_in(graph)
        if sizes is None or len(graph.nameless[1]) != self._num_weights:
            return False
        own = _imported(self._imported_at, sizes)
        if own is None:
            return False
        (text, keys), (own_text, own_keys) = graph.nameless, own.nameless
        borrowed = graph.borrowed | own.borrowed
        return text == own_text and all(
            are_equal(graph.weights[key], own.weights[own_key], borrowed)
            for key, own_key in zip(keys, own_keys, strict=True))

    def _sizes_in(self, graph: ImportedGraph) -> dict[str, int] | None:
        """Returns the sizes of a graph's inputs by dimension name, or None if the inputs do not
        match."""
        sizes: dict[str, int] = {}
        for position, dimension, name in self._axes:
            if position >= len(graph.inputs) or dimension >= len(graph.inputs[position].shape):
                return None
            size = graph.inputs[position].shape[dimension]
            if sizes.setdefault(name, size) != size:
                return None
        return sizes if len(sizes) == len(self.sizes.names) else None


def find_model(fewest: int, example: Mapping[str, int], imported_at: ImportedAt,
               options: Mapping[str, Any]) -> Model | None:
    """Returns a Model that computes this graph at the example sizes and at other sizes, or None.
    `fewest`: least number of dynamic dimensions that the Model must have. Requires: the graph
    follows rules (plain_sizes.py), as the compared Models do."""
    with _LOCK:
        models = [m for m in _MODELS if m.follows_rules and
                  len(m.sizes.names) >= fewest and m.options == options]
    if not models:
        return None
    larger = {name: size + 8 for name, size in example.items()}
    others = [larger, *({**example, name: larger[name]} for name in example)]
    graphs = [imported_at(example), *(_imported(imported_at, other) for other in others)]
    known = [graph for graph in graphs if graph is not None]
    if len(known) < len(graphs):
        return None
    return next((m for m in models if all(m.computes(graph) for graph in known)), None)


def _imported(imported_at: ImportedAt, sizes: Mapping[str, int]) -> ImportedGraph | None:
    """Returns the graph at these sizes, or None if the model does not support them."""
    try:
        return imported_at(sizes)
    except UnsupportedOperator:
        return None


def are_equal(one: torch.Tensor, other: torch.Tensor, borrowed: frozenset[int] = frozenset()) -> bool:
    """Tests if two weights are one tensor, or different tensors with equal values. `borrowed`:
    addresses of weights that other code may write. For these, equal values do not count."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.data_ptr() == other.data_ptr():
        return True
    return not borrowed & {one.data_ptr(), other.data_ptr()} and torch.equal(one, other)
