"""Executables with dynamic shapes, each shared by all graphs of one model.

Dynamo traces a model again if a size is 1. The graph for size 1 equals the graph with this size
dynamic, which was traced earlier or will be traced later. Both run on the same executables.
"""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .errors import UnsupportedOperator
from .frozen import mark
from .sizes import Check, Size

if TYPE_CHECKING:
    from .any_size import OpenSizes
    from .imported_graph import ImportedGraph

    # Returns the graph for numbers or names of sizes, and for numbers of the names.
    ImportedAt = Callable[[Mapping[str, int | str], Mapping[str, int]], ImportedGraph]

_LOCK = threading.Lock()
_MODELS: weakref.WeakSet[Model] = weakref.WeakSet()
_made = 0  # number of models made so far


def models_made() -> int:
    """Returns the number of models made so far. If it has grown, a model for other graphs may now
    exist."""
    return _made


class Model:
    """An executable with dynamic shapes, with the data to test if another graph is the same model.

    sizes: OpenSizes of the graph.
    graph: the ImportedGraph with names for these sizes.
    imported_at: a function that returns other ImportedGraphs of the same module.
    weights: tensors that are compiled in.
    options: options of tunec.compile.
    """

    def __init__(self, sizes: OpenSizes, graph: ImportedGraph, imported_at: ImportedAt,
                 weights: Sequence[torch.Tensor], options: Mapping[str, Any], executable: Any) -> None:
        global _made
        positions = {port.source: position for position, port in enumerate(graph.inputs)}
        self.sizes, self.options, self.executable = sizes, options, executable
        self._imported_at = imported_at
        self._axes = [(positions[source], dimension, name) for source, dimension, name in sizes.axes
                      if source in positions]
        self._num_weights = len(graph.nameless[1])
        self._conditions = graph.conditions
        self._weights, self._mark = weights, mark(weights)
        with _LOCK:
            _MODELS.add(self)
            _made += 1

    def conditions_for(self, graph: ImportedGraph, example: Mapping[str, int]) -> list[str] | None:
        """Returns None unless the model with some numbers and names for its sizes equals this graph.
        Otherwise returns what must hold for the names (see Check). `example`: numbers by name."""
        sizes = self._sizes_in(graph)
        if sizes is None or len(graph.nameless[1]) != self._num_weights:
            return None
        if mark(self._weights) != self._mark:  # weights have changed since they were compiled in
            return None
        # The executable was made from the graph with names. It must be valid for these sizes, too.
        required = self._conditions.renamed(sizes)
        if required is None or not Check(required)(example):
            return None
        own = _imported(self._imported_at, sizes, example)
        if own is None:
            return None
        (text, keys), (own_text, own_keys) = graph.nameless, own.nameless
        borrowed = graph.borrowed | own.borrowed
        is_same = text == own_text and all(
            are_equal(graph.weights[key], own.weights[own_key], borrowed)
            for key, own_key in zip(keys, own_keys, strict=True))
        return [*required, *own.conditions.texts()] if is_same else None

    def _sizes_in(self, graph: ImportedGraph) -> dict[str, int | str] | None:
        """Returns the sizes of a graph's inputs by dimension name, as numbers or names of the graph.
        Returns None if the inputs do not match."""
        sizes: dict[str, int | str] = {}
        for position, dimension, name in self._axes:
            if position >= len(graph.inputs) or dimension >= len(graph.inputs[position].shape):
                return None
            found = graph.inputs[position].shape[dimension]
            size = str(found.expression) if isinstance(found, Size) else found
            if sizes.setdefault(name, size) != size:
                return None
        return sizes if len(sizes) == len(self.sizes.names) else None


def find_model(fewest: int, graph: ImportedGraph, example: Mapping[str, int],
               options: Mapping[str, Any]) -> tuple[Model, list[str]] | None:
    """Returns a Model that computes this graph, and what must hold for the graph's names, or None.
    `fewest`: least number of dynamic dimensions that the Model must have."""
    with _LOCK:
        models = [m for m in _MODELS if len(m.sizes.names) >= fewest and m.options == options]
    for model in models:
        conditions = model.conditions_for(graph, example)
        if conditions is not None:
            return model, conditions
    return None


def _imported(imported_at: ImportedAt, sizes: Mapping[str, int | str],
              example: Mapping[str, int]) -> ImportedGraph | None:
    """Returns the graph at these sizes, or None if the model does not support them."""
    try:
        return imported_at(sizes, example)
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
