"""Imports type conversions, copies, and operators that return the operand, such as detach."""
from ..builder import Value
from ..element_types import bits, is_float
from ..errors import Rejected
from ..handler_table import handles


@handles("_to_copy.default", "to.dtype", "to.dtype_layout", "to.device", "to.other",
         "type_as.default", "prims::convert_element_type.default")
def to_copy(call, x, *_):
    return converted(x, call.element())


def converted(x, element):
    """Converts a value as torch does. Floats are truncated to integers. In a conversion to bool,
    nonzero elements become True."""
    if element == "bool" and x.element != "bool":
        return x.compare("ne", 0)
    return x.cast(element)


@handles("clone.default", "alias.default", "detach.default", "detach_copy.default",
         "alias_copy.default", "lift_fresh_copy.default", "lift_fresh.default",
         "contiguous.default", "lift.default", "positive.default")
def same(call, x, *_, **__):
    return x


@handles("copy.default")
def copy(call, x, source, *_):
    """Returns the source with the type and shape of x."""
    return converted(source, x.element).expand(x.shape)


@handles("view.dtype")
def bits_as(call, x, dtype):
    """Reinterprets the bits of integers as integers of the same size, by a conversion that wraps.
    Rejects other types unless they are equal."""
    element = call.element()
    integers = not is_float(element) and not is_float(x.element)
    if element == x.element:
        return x
    if not integers or bits(element) != bits(x.element) or "bool" in (element, x.element):
        raise Rejected(f"the bits of {x.element} as {element}")
    return x.cast(element)


@handles("fill.Scalar", "fill.Tensor")
def fill(call, x, value):
    if isinstance(value, Value):
        return converted(value, x.element).reshape(()).expand(x.shape)
    return call.graph.full(x.shape, value, x.element)
