"""Imports comparisons, logic, and selections."""
from ..builder import Value
from ..errors import Rejected
from ..handler_table import handles
from .promotion import as_value, in_result_type, promoted

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@handles(*(f"{name}.{kind}" for name in _COMPARISONS for kind in ("Tensor", "Scalar")))
def compare(call, a, b):
    a, b = promoted(call, a, b)
    if a.element == "bool" and call.name not in ("eq", "ne"):
        a, b = a.cast("u8"), b.cast("u8")
    return a.compare(call.name, b)


def truth(x):
    """Returns True for each nonzero element."""
    return x if x.element == "bool" else x.compare("ne", 0)


@handles("logical_not.default")
def logical_not(call, x):
    return ~x if x.element == "bool" else x.compare("eq", 0)


_LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}


@handles(*(f"{name}.default" for name in _LOGICAL))
def logical(call, a, b):
    return call.graph.emit(_LOGICAL[call.name], truth(a), truth(b))


@handles("isnan.default", "isinf.default")
def is_special(call, x):
    return x.unary(call.name) if x.is_float else call.graph.full(x.shape, 0, "bool")


@handles("where.self", "where.Scalar", "where.ScalarSelf", "where.ScalarOther")
def where(call, condition, yes, no):
    yes, no = in_result_type(call, yes, no)
    # Older models have conditions of type u8, which `truth` converts.
    return call.graph.where(truth(condition), yes, no)


@handles("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(call, x, mask, value):
    if isinstance(value, Value) and value.count != 1:
        raise Rejected("a value of several elements")
    value = as_value(call, value, x.element)
    y = call.graph.where(mask, value.reshape(()), x)
    return y
