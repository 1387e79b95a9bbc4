"""Imports elementwise operators except comparisons and roundings."""
import math

from ..errors import Rejected
from ..handler_table import handles
from .promotion import as_value, in_result_type, result_element, widened

# tunec's names of float functions. Operands are first converted to the result's type.
_UNARY = {
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2",
    "log10": "log10", "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal",
    "tanh": "tanh", "erf": "erf", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin",
    "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "sigmoid": "sigmoid", "silu": "silu", "mish": "mish",
    "hardswish": "hard_swish",
}


@handles(*(f"{name}.default" for name in _UNARY))
def unary(call, x):
    return x.cast(call.element()).unary(_UNARY[call.name])


@handles("relu.default", "relu6.default")
def relu(call, x):
    return x.unary("relu") if call.name == "relu" else x.unary("clip", min=0.0, max=6.0)


@handles("neg.default", "abs.default")
def sign_of_number(call, x):
    return x.unary(call.name)


@handles("sign.default", "sgn.default")
def sign(call, x):
    if x.element == "bool":
        return x
    y = x.unary("sign")
    # torch returns 0 for the sign of NaN.
    return call.graph.where(x.unary("isnan"), 0, y) if x.is_float else y


@handles("selu.default")
def selu(call, x):
    """Imports selu. The compiler's default factors are those of ONNX in float32, so float64 needs
    more digits."""
    if x.element != "f64":
        return x.unary("selu")
    return x.unary("selu", alpha=1.6732632423543772, gamma=1.0507009873554805)


@handles("square.default")
def square(call, x):
    x = x.cast(call.element())
    return x & x if x.element == "bool" else x * x


@handles("exp2.default")
def exp2(call, x):
    x = x.cast(call.element())
    return call.graph.emit("pow", x.number(2), x)


@handles("add.Tensor", "add.Scalar", "sub.Tensor", "sub.Scalar")
def add(call, a, b, alpha=1):
    a, b = in_result_type(call, a, b)
    if a.element == "bool":
        return a | (b & bool(alpha))
    if alpha != 1:
        b = b * alpha
    return a + b if call.name == "add" else a - b


@handles("rsub.Scalar", "rsub.Tensor")
def rsub(call, a, b, alpha=1):
    a, b = in_result_type(call, a, b)
    return b - (a if alpha == 1 else a * alpha)


@handles("mul.Tensor", "mul.Scalar")
def mul(call, a, b):
    a, b = in_result_type(call, a, b)
    return a & b if a.element == "bool" else a * b


@handles("div.Tensor", "div.Scalar", "true_divide.Tensor")
def div(call, a, b):
    a, b = in_result_type(call, a, b)
    return a / b


@handles("maximum.default", "minimum.default", "fmax.default", "fmin.default")
def extreme(call, a, b):
    a, b = in_result_type(call, a, b)
    largest = call.name in ("maximum", "fmax")
    if a.element == "bool":
        return a | b if largest else a & b
    y = a.max(b) if largest else a.min(b)
    if call.name in ("maximum", "minimum") or not a.is_float:
        return y
    # fmax and fmin return the other operand if one operand is NaN.
    g = call.graph
    return g.where(a.unary("isnan"), b, g.where(b.unary("isnan"), a, y))


# torch computes roots for these exponents. A power differs from a root for minus infinity and -0.
_ROOTS = {0.5: "sqrt", -0.5: "rsqrt"}


@handles("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def power(call, a, b):
    is_root = isinstance(b, (int, float)) and b in _ROOTS and call.element() in ("f32", "f64")
    if is_root:
        return a.cast(call.element()).unary(_ROOTS[b])
    return call.graph.emit("pow", *in_result_type(call, a, b))


@handles("clamp.default", "clamp_min.default", "clamp_max.default", "clamp.Tensor",
         "clamp_min.Tensor", "clamp_max.Tensor", "hardtanh.default")
def clamp(call, x, least=None, most=None):
    if call.name == "clamp_max":
        least, most = None, least
    x = x.cast(call.element())
    bounds = [b for b in (least, most) if b is not None]
    if x.is_float and all(isinstance(b, (int, float)) for b in bounds):
        named = {"min": least, "max": most}
        given = {k: float(v) for k, v in named.items() if v is not None}
        return x.unary("clip", **given)
    if x.element == "bool":
        raise Rejected("bounds of booleans")
    if least is not None:
        x = x.max(as_value(call, least, x.element))
    return x if most is None else x.min(as_value(call, most, x.element))


@handles("leaky_relu.default")
def leaky_relu(call, x, slope=0.01):
    return x.unary("leaky_relu", alpha=float(slope))


@handles("prelu.default", "_prelu_kernel.default")
def prelu(call, x, slope):
    if slope.count > 1 and slope.rank == 1 and x.rank > 2:
        slope = slope.reshape((slope.count, *[1] * (x.rank - 2)))
    return call.graph.emit("prelu", x, slope if slope.count > 1 else slope.reshape(()))


@handles("elu.default")
def elu(call, x, alpha=1, scale=1, input_scale=1):
    if scale == 1 and input_scale == 1:
        return x.unary("elu", alpha=float(alpha))
    wide = widened(x)
    below = (wide * input_scale).unary("elu", alpha=float(alpha))
    return (call.graph.where(wide.compare("gt", 0), wide, below) * scale).cast(x.element)


@handles("celu.default")
def celu(call, x, alpha=1.0):
    return x.unary("celu", alpha=float(alpha))


@handles("gelu.default")
def gelu(call, x, approximate="none"):
    return x.unary("gelu", approximate=approximate)


@handles("hardsigmoid.default")
def hardsigmoid(call, x):
    return x.unary("hard_sigmoid", alpha=1 / 6, beta=0.5)


@handles("softplus.default")
def softplus(call, x, beta=1, threshold=20):
    # Above the threshold torch returns x itself; in float32, softplus equals x from 20 on.
    if beta == 1 and threshold >= 20 and x.element != "f64":
        return x.unary("softplus")
    wide = widened(x)
    scaled = wide * beta
    y = scaled.unary("softplus") / beta
    return call.graph.where(scaled.compare("gt", threshold), wide, y).cast(x.element)


@handles("threshold.default")
def threshold(call, x, bound, value):
    return call.graph.where(x.compare("le", bound), value, x)


@handles("atan2.default")
def atan2(call, y, x):
    """Computes the arc tangent of the smaller absolute value divided by the larger one, which
    cannot overflow. Then moves the angle to its octant."""
    g = call.graph
    y, x = (widened(v) for v in g.broadcast(*in_result_type(call, y, x)))
    low, high = y.unary("abs").min(x.unary("abs")), y.unary("abs").max(x.unary("abs"))
    ratio = g.where(low.compare("eq", high) & high.unary("isinf"), 1, low / high)
    angle = g.where(high.compare("eq", 0), 0, ratio).unary("atan")
    steep = y.unary("abs").compare("gt", x.unary("abs"))
    angle = g.where(steep, angle.number(math.pi / 2) - angle, angle)
    angle = g.where(_has_minus(x), angle.number(math.pi) - angle, angle)
    return g.where(_has_minus(y), -angle, angle).cast(call.element())


def _has_minus(x):
    """Tests the sign bit of x, also for zeros: 1 / -0 is minus infinity."""
    return x.graph.where(x.compare("eq", 0), x.unary("reciprocal"), x).compare("lt", 0)


_BITWISE = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "__and__": "and",
            "__or__": "or", "__xor__": "xor"}


@handles(*(f"{name}.{kind}" for name in _BITWISE for kind in ("Tensor", "Scalar")))
def bitwise(call, a, b):
    return call.graph.emit(_BITWISE[call.name], *in_result_type(call, a, b))


@handles("bitwise_not.default")
def bitwise_not(call, x):
    return ~x


_SHIFTS = {"bitwise_left_shift": "shl", "bitwise_right_shift": "shr", "__lshift__": "shl",
           "__rshift__": "shr"}


@handles(*(f"{name}.Tensor" for name in ("bitwise_left_shift", "bitwise_right_shift")),
         *(f"{name}.Tensor_Scalar" for name in ("bitwise_left_shift", "bitwise_right_shift")),
         *(f"{name}.{kind}" for name in ("__lshift__", "__rshift__")
           for kind in ("Tensor", "Scalar")))
def shift(call, a, b):
    if result_element(a, b) in ("f32", "f64", "f16", "bf16"):
        raise Rejected("shifts of floats")
    return call.graph.emit(_SHIFTS[call.name], *in_result_type(call, a, b))


@handles("native_dropout.default", "dropout.default")
def dropout(call, x, p, train):
    if train and p > 0:
        raise Rejected("random numbers; in inference dropout is nothing")
    if call.name == "dropout":
        return x
    return x, call.graph.full(x.shape, 1, "bool")
