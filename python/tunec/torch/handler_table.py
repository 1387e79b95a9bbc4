"""The table of functions that import ATen operators.

A handler receives the operator's arguments in the order and with the defaults of its schema.
Tensors are Values (or None), all other arguments are as in FX. A handler returns a Value, or a
tuple for several results. For unsupported arguments, a handler raises Rejected.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from .element_types import element_type
from .errors import Rejected

if TYPE_CHECKING:
    from .builder import GraphBuilder

Handler = TypeVar("Handler", bound=Callable[..., Any])

_HANDLERS: dict[str | None, Any] = {}  # by the name without its namespace: "add.Tensor"


class Call:
    """The node that is imported: its graph, operator and results, for handlers."""

    def __init__(self, graph: GraphBuilder, target: Any, result: Any, shapes: Any,
                 used: frozenset[int] | None = None, beside_torch: bool = False) -> None:
        self.graph = graph
        self.target = target  # the OpOverload
        # Its fake tensor in FX, or a tuple of them. A symbolic size has the number of the example.
        self.result = result
        self.shapes = shapes  # the shape of `result`, or a list of shapes
        self._used = used  # indices of results that are read; None: unknown
        # True: torch can run the node. Handlers then also reject arguments for which eager mode may
        # raise an error.
        self.beside_torch = beside_torch

    @property
    def name(self) -> str:
        return self.target._schema.name.split("::")[-1]

    def _result(self, index: int) -> Any:
        several = isinstance(self.result, (tuple, list))
        return self.result[index] if several else self.result

    def is_used(self, index: int) -> bool:
        """Tests if the result with this index may be read."""
        return self._used is None or index in self._used

    def element(self, index: int = 0) -> str:
        """Returns the element type of a result."""
        dtype = self._result(index).dtype
        element = element_type(dtype)
        if element is None:
            raise Rejected(f"results of {dtype}")
        return element

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """Returns the shape of a result."""
        several = isinstance(self.result, (tuple, list))
        return tuple(self.shapes[index] if several else self.shapes)


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Registers a function `f(call, ...)` for overloads of ATen operators."""
    def register(function: Handler) -> Handler:
        for name in names:
            assert name not in _HANDLERS, name
            _HANDLERS[name] = function
        return function
    return register


def overload_name(target: Any) -> str | None:
    """Returns "add.Tensor" for torch.ops.aten.add.Tensor, "space::f.default" for other namespaces,
    and None for other objects."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    name = str(target).removeprefix(f"{target.namespace}.")
    return name if target.namespace == "aten" else f"{target.namespace}::{name}"


def handler_of(target: Any) -> Any:
    """Returns the handler of an operator, or None."""
    return _HANDLERS.get(overload_name(target))


def handled_names() -> frozenset[Any]:
    return frozenset(_HANDLERS)


def bind(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Returns all arguments in the order of the schema, with defaults for missing ones."""
    bound = []
    for i, argument in enumerate(target._schema.arguments):
        if i < len(args) and not argument.kwarg_only:
            bound.append(args[i])
        elif argument.name in kwargs:
            bound.append(kwargs[argument.name])
        else:
            bound.append(argument.default_value if argument.has_default_value() else None)
    return bound
