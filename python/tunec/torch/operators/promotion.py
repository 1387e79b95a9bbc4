"""Promotes operands to one type by torch's rules."""
import torch

from ..builder import Value
from ..element_types import element_type, is_narrow_float
from ..sizes import Size, SizeNumber

_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


def as_value(call, x, element):
    """Returns a tensor or a number as a value of an element type."""
    return x.cast(element) if isinstance(x, Value) else call.graph.number(x, element)


def promoted(call, *operands):
    """Returns operands in the type that torch computes with. torch's rules depend on types and
    ranks, and Python numbers have the lowest priority."""
    element = result_element(*operands)
    return [as_value(call, x, element) for x in operands]


def result_element(*operands):
    # Only the kind of a number matters.
    kinds = {Size: 0, SizeNumber: 0.0}
    seen = [x.meta if isinstance(x, Value) else kinds.get(type(x), x) for x in operands]
    dtype = torch.result_type(*seen[:2]) if len(seen) > 1 else seen[0].dtype
    for other in seen[2:]:
        dtype = torch.promote_types(dtype, torch.result_type(seen[0], other))
    return element_type(dtype)


def in_result_type(call, *operands):
    """Returns operands in the result's type."""
    return [as_value(call, x, call.element()) for x in operands]


def combined(x, *others):
    """Returns float operands in the widest of their types."""
    given = [v for v in (x, *others) if v is not None]
    element = max((v.element for v in given), key=lambda e: _BYTES[e])
    return [None if v is None else v.cast(element) for v in (x, *others)]


def widest(x, value):
    """Returns the type of x, or that of a parameter if it is wider."""
    return value.element if _BYTES[value.element] > _BYTES[x.element] else x.element


def widened(value):
    """Returns the value; 16-bit floats are cast to float32, in which formulas of several steps are
    computed."""
    return value.cast("f32") if is_narrow_float(value.element) else value
