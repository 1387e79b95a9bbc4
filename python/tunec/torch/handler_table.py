"""Which function imports which operator of ATen.

A handler has the operator's arguments, in the order and with the defaults of its schema: tensors
are Values (or None), everything else is as in FX. It returns a Value, or a tuple of them for
several results. What it cannot do it rejects by raising Refused.
"""
import torch

from .element_types import element_type
from .errors import Refused

_HANDLERS = {}  # by the name without its namespace: "add.Tensor"


class Call:
    """The node that is imported: what handlers know beside the operator's arguments."""

    def __init__(self, graph, target, result, used=None, beside_torch=False):
        self.graph = graph
        self.target = target  # the OpOverload
        self.result = result  # the fake tensor, or tuple of them, that FX has for it
        self._used = used  # the numbers of the results that anything reads; None: not known
        # Torch can run the node, so a check of values that eager mode makes is a reason to refuse.
        self.beside_torch = beside_torch

    @property
    def name(self):
        return self.target._schema.name.split("::")[-1]

    def _result(self, index):
        several = isinstance(self.result, (tuple, list))
        return self.result[index] if several else self.result

    def is_used(self, index):
        """Whether one of several results may be read."""
        return self._used is None or index in self._used

    def element(self, index=0):
        """The element type of a result."""
        dtype = self._result(index).dtype
        element = element_type(dtype)
        if element is None:
            raise Refused(f"results of {dtype}")
        return element

    def shape(self, index=0):
        """The shape of a result."""
        return tuple(self._result(index).shape)


def handles(*names):
    """Registers a function `f(call, ...)` for overloads of ATen."""
    def register(function):
        for name in names:
            assert name not in _HANDLERS, name
            _HANDLERS[name] = function
        return function
    return register


def overload_name(target):
    """The name "add.Tensor" of torch.ops.aten.add.Tensor, "space::f.default" of others; None of
    what is no operator."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    name = str(target).removeprefix(f"{target.namespace}.")
    return name if target.namespace == "aten" else f"{target.namespace}::{name}"


def handler_of(target):
    """The function for an operator, or None."""
    return _HANDLERS.get(overload_name(target))


def handled_names():
    return frozenset(_HANDLERS)


def bind(target, args, kwargs):
    """All arguments in the order of the schema, defaults for those that are not given."""
    bound = []
    for i, argument in enumerate(target._schema.arguments):
        if i < len(args) and not argument.kwarg_only:
            bound.append(args[i])
        elif argument.name in kwargs:
            bound.append(kwargs[argument.name])
        else:
            bound.append(argument.default_value if argument.has_default_value() else None)
    return bound
