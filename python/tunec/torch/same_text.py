"""Shares executables between graphs of equal text.

If weights are inputs, layers of a model that are compiled separately often have equal text. Graphs
with one text share an executable, which exists as long as one of the graphs.
"""
from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._options import options_json

if TYPE_CHECKING:
    from .._native import Executable
    from .imported_graph import ImportedGraph

# Options with functions that are called during compilation. A graph with such an option gets its
# own executable.
_CALLED = ("progress", "log")

_LOCK = threading.Lock()
_MADE: weakref.WeakValueDictionary[tuple[str, str], Executable] = weakref.WeakValueDictionary()


def compile_once(graph: ImportedGraph, options: Mapping[str, Any]) -> Executable:
    """Returns the executable of an ImportedGraph. A graph without weights gets the executable of an
    earlier graph with the same text and options."""
    if graph.weights or any(options.get(name) is not None for name in _CALLED):
        return graph.compile(**options)
    key = (graph.text, options_json(options))
    with _LOCK:
        found = _MADE.get(key)
    if found is not None:
        return found
    # The lock is released while compiling, which takes seconds. If two threads compile the same
    # text, the first result is used by both.
    made = graph.compile(**options)
    with _LOCK:
        return _MADE.setdefault(key, made)
