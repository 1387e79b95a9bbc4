"""Runs parts of a graph in torch that were imported, but that the compiler rejected for some sizes
or for all sizes."""
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx

from .._compile import compile as compile_model
from .._errors import Error, InvalidArgument, NotCompiledWarning, ParseError, Unsupported
from .errors import UnsupportedNode, first_line
from .partitions import BY_STRIDES

# Errors for a graph that the compiler rejects. InvalidArgument also means that an option is wrong.
REJECTIONS = (InvalidArgument, ParseError, Unsupported)

_ANY_GRAPH = """graph any {
  constant c: f32[1] = [1]
  y = neg(c)
  output y
}
"""


class LeftPart:
    """A part that torch runs for the shapes for which the compiler rejected it.

    module   the part's graph
    name     its name in reports
    options  options of tunec.compile
    left     a list of UnsupportedNodes, to which a rejected part is added
    """

    def __init__(self, module: fx.GraphModule, name: str, options: Mapping[str, Any],
                 left: list[UnsupportedNode]) -> None:
        self._module, self._name, self._options, self._left = module, name, options, left
        self._in_torch: Any = None  # a GraphModule after the first rejection
        self._shapes: set[tuple[object, ...]] = set()  # shapes of arguments for which the compiler rejected the part

    def takes(self, arguments: Sequence[Any]) -> bool:
        """Tests if the compiler rejected the part for arguments of these shapes."""
        return bool(self._shapes) and _shapes_of(arguments) in self._shapes

    def take(self, arguments: Sequence[Any], rejection: Error) -> None:
        """Records the compiler's error. Raises the error if the options caused it."""
        self._raise_for_options(rejection)
        self._shapes.add(_shapes_of(arguments))
        if self._in_torch is None:
            self._in_torch = _of_any_strides(self._module)
            reason = f"the compiler rejected it: {first_line(rejection)}"
            self._left.append(UnsupportedNode(self._name, "a compiled part", reason, ""))
            warnings.warn(f"tunec leaves {self._name} to torch: {reason}", NotCompiledWarning,
                          stacklevel=2)

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the part in torch. Returns a list of its results."""
        results = self._in_torch(*arguments)
        return list(results) if isinstance(results, (tuple, list)) else [results]

    def _raise_for_options(self, rejection: Error) -> None:
        try:
            compile_model(_ANY_GRAPH, **self._options)
        except Error:
            raise rejection from None


def _shapes_of(arguments: Sequence[Any]) -> tuple[object, ...]:
    return tuple(tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in arguments)


def _of_any_strides(module: fx.GraphModule) -> fx.GraphModule:
    """Returns the part with reshapes instead of views, so that operands may have any strides."""
    graph = fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    for node in graph.nodes:
        if node.op == "call_function":
            node.target = BY_STRIDES.get(node.target, node.target)
    return fx.GraphModule(module, graph)
