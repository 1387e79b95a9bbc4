"""Shares executables between graphs of equal text.

If weights are inputs, layers of a model that are compiled separately often have equal text. All
graphs with one text share an executable, which lives as long as one of the graphs.
"""
import threading
import weakref

from .._options import options_json

# Options that call the user during compilation: such a graph is compiled separately.
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
    # The lock is free while compiling, which takes seconds. If two threads compile, one result is
    # used.
    made = compile_model(graph.text, weights=graph.weights, **options)
    with _LOCK:
        return _MADE.setdefault(key, made)
