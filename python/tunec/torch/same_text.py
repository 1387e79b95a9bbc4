"""Executables that graphs of equal text share.

Where weights are inputs, layers of a model that are compiled one by one often have equal text. All
graphs of one text run on one executable, as long as some graph has that executable.
"""
import threading
import weakref

from .._options import options_json

# Options that call the user while a graph compiles: such a graph is compiled by itself.
_CALLED = ("progress", "log")

_LOCK = threading.Lock()
_MADE = weakref.WeakValueDictionary()


def compile_once(graph, options, compile_model):
    """Returns the executable of an ImportedGraph. `compile_model(text, weights=, **options)` makes a
    new one, unless a graph without weights has the same text and the same options."""
    if graph.weights or any(options.get(name) is not None for name in _CALLED):
        return compile_model(graph.text, weights=graph.weights, **options)
    key = (graph.text, options_json(options))
    with _LOCK:
        found = _MADE.get(key)
    if found is not None:
        return found
    # Compiling takes seconds, so the lock is free. Two threads may both compile; one result is kept.
    made = compile_model(graph.text, weights=graph.weights, **options)
    with _LOCK:
        return _MADE.setdefault(key, made)
