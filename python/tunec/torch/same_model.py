"""Executables for any sizes, each for all graphs that are one model.

Dynamo traces a model anew where a size is 1. What it finds is the graph that it has, or will have,
for that size open, and so it runs on the same executables.
"""
import threading
import weakref

import torch

from .any_size import compile_sized
from .errors import UnsupportedOperator

_LOCK = threading.Lock()
_MODELS = weakref.WeakSet()
_made = 0  # models so far


def models_made():
    """How many there were so far: a model of several graphs may come after the first of them."""
    return _made


class Model:
    """An executable for any sizes, with what tells whether another graph is this one.

    sizes        OpenSizes of its graph
    example      a number for each of its names
    imported_at  makes the ImportedGraph for a dict of numbers by name
    options      of tunec.compile
    follows_rules  whether a formula that holds for a few sizes does for all (plain_sizes.py)
    """

    def __init__(self, sizes, example, imported_at, options, follows_rules):
        global _made
        graph = imported_at(example)
        places = {port.source: place for place, port in enumerate(graph.inputs)}
        self.sizes, self.options, self._imported_at = sizes, options, imported_at
        self.follows_rules = follows_rules
        self._axes = [(places[source], dimension, name) for source, dimension, name in sizes.axes
                      if source in places]
        self._num_weights = len(graph.nameless[1])
        self.executable = compile_sized(sizes, example, imported_at, options, follows_rules)
        with _LOCK:
            _MODELS.add(self)
            _made += 1

    def computes(self, graph):
        """Whether it is this graph at some sizes."""
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

    def _sizes_in(self, graph):
        """The numbers of the dimensions in a graph's inputs; None where these are others."""
        sizes = {}
        for place, dimension, name in self._axes:
            if place >= len(graph.inputs) or dimension >= len(graph.inputs[place].shape):
                return None
            size = graph.inputs[place].shape[dimension]
            if sizes.setdefault(name, size) != size:
                return None
        return sizes if len(sizes) == len(self.sizes.names) else None


def find_model(fewest, example, imported_at, options):
    """Returns a Model that computes this graph at the example sizes and at others, or None. `fewest`:
    the least number of dynamic dimensions of the Model. Requires: the graph's numbers are sums and
    products of sizes, as the Model's are."""
    with _LOCK:
        models = [m for m in _MODELS if m.follows_rules and
                  len(m.sizes.names) >= fewest and m.options == options]
    if not models:
        return None
    larger = {name: size + 8 for name, size in example.items()}
    others = [larger, *({**example, name: larger[name]} for name in example)]
    graphs = [imported_at(example), *(_imported(imported_at, other) for other in others)]
    if None in graphs:
        return None
    return next((m for m in models if all(m.computes(graph) for graph in graphs)), None)


def _imported(imported_at, sizes):
    """The graph at these sizes; None where there is none, as of a model for multiples of 32 alone."""
    try:
        return imported_at(sizes)
    except UnsupportedOperator:
        return None


def are_equal(one, other, borrowed=frozenset()):
    """Tells whether two weights are one tensor, or equal constants. `borrowed` has the addresses of
    weights that others may write. Equal numbers there may change."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.data_ptr() == other.data_ptr():
        return True
    return not borrowed & {one.data_ptr(), other.data_ptr()} and torch.equal(one, other)
