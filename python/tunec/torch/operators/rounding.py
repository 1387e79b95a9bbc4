"""Imports roundings, and divisions with a rounded quotient."""
from ..builder import Value
from ..element_types import is_float
from ..errors import Rejected
from ..handler_table import handles
from .promotion import in_result_type, widened


@handles("floor.default", "ceil.default")
def floor(call, x):
    return x.unary(call.name) if x.is_float else x


def truncated(x):
    return x.graph.where(x.compare("lt", 0), x.unary("ceil"), x.unary("floor"))


@handles("trunc.default", "fix.default")
def trunc(call, x):
    return truncated(x) if x.is_float else x


@handles("round.default", "round.decimals")
def round_to_even(call, x, decimals=0):
    if not x.is_float:
        return x
    if decimals == 0:
        return x.unary("round")
    scale = 10.0 ** abs(decimals)
    wide = widened(x)
    if decimals > 0:
        return ((wide * scale).unary("round") / scale).cast(x.element)
    return ((wide / scale).unary("round") * scale).cast(x.element)


def _reject_zero_divisors(call, divisor):
    """Rejects integer divisions by a divisor that may be 0, if torch can run the node instead: eager
    mode raises an error for such a divisor."""
    if call.beside_torch and not is_float(call.element()) and not _is_never_zero(divisor):
        raise Rejected("a division of integers whose divisor may be 0, which is an error in torch")


def _is_never_zero(divisor):
    """Tests for a divisor that is a nonzero number or constant, or is clamped to be positive."""
    if not isinstance(divisor, Value):
        return divisor != 0
    while divisor.op in ("reshape", "expand", "identity"):
        divisor = divisor.operands[0]
    if divisor.op == "max":
        return any(x.op == "constant" and min(x.elements) > 0 for x in divisor.operands)
    return divisor.op == "constant" and 0 not in divisor.elements


@handles("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def remainder(call, a, b):
    """Imports the remainder with the sign of the divisor."""
    _reject_zero_divisors(call, b)
    return call.graph.emit("mod", *in_result_type(call, a, b), fmod=0)


@handles("fmod.Tensor", "fmod.Scalar")
def fmod(call, a, b):
    """Imports the remainder with the sign of the dividend."""
    _reject_zero_divisors(call, b)
    return call.graph.emit("mod", *in_result_type(call, a, b), fmod=1)


def _floored_integers(a, b):
    """Returns the floored quotient of integers. It is the truncated quotient, minus 1 if the
    remainder is not 0 and differs from the divisor in sign."""
    rest = a.graph.emit("mod", a, b, fmod=1)
    quotient = a / b
    differs = a.graph.emit("xor", rest.compare("lt", 0), b.compare("lt", 0))
    lower = rest.compare("ne", 0) & differs
    return quotient - lower.cast(a.element)


def _floored_floats(a, b):
    """Returns the floored quotient of floats, computed as torch does. The remainder is exact, so
    only the rounding of the quotient affects the result."""
    g = a.graph
    a, b = g.broadcast(a, b)
    rest = g.emit("mod", a, b, fmod=1)
    quotient = (a - rest) / b
    differs = g.emit("xor", rest.compare("lt", 0), b.compare("lt", 0))
    quotient = g.where(rest.compare("ne", 0) & differs, quotient - 1, quotient)
    down = quotient.unary("floor")
    nearest = g.where((quotient - down).compare("gt", 0.5), down + 1, down)
    return g.where(b.compare("eq", 0), a / b, nearest)


@handles("div.Tensor_mode", "div.Scalar_mode", "floor_divide.default", "floor_divide.Scalar")
def div_rounded(call, a, b, rounding_mode="floor"):
    if rounding_mode is not None:
        _reject_zero_divisors(call, b)
    element = call.element()
    by_one_number = not isinstance(b, Value) or b.count == 1
    a, b = in_result_type(call, a, b)
    if rounding_mode is None:
        return a / b
    if rounding_mode not in ("floor", "trunc"):
        raise Rejected(f"rounding_mode {rounding_mode!r}")
    if not a.is_float:
        return a / b if rounding_mode == "trunc" else _floored_integers(a, b)
    if rounding_mode == "trunc":
        return _truncated_quotient(a, b, by_one_number)
    return _floored_floats(widened(a), widened(b)).cast(element)


def _truncated_quotient(a, b, by_one_number):
    """Returns the truncated quotient of floats, computed as torch does: the quotient of narrow
    floats is first rounded to their type, unless the divisor is one number."""
    quotient = widened(a) / widened(b)
    if not by_one_number:
        return truncated(quotient.cast(a.element))
    return truncated(quotient).cast(a.element)
