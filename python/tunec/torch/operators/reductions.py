"""Imports reductions such as sum, var and argmax, running sums and products, and histograms."""
import math

from ..errors import Rejected
from ..handler_table import handles
from .comparison import truth
from .conversions import converted
from .promotion import widened

_MOST_FACTORS = 1024  # largest length of a running product: each element becomes a node


def axes_of(x, dim):
    """Returns the axes that `dim` names: a number, a list, or all axes for None and an empty
    list."""
    if dim is None or dim == []:
        return list(range(x.rank))
    given = [dim] if isinstance(dim, int) else dim
    return sorted(axis % max(x.rank, 1) for axis in given) if x.rank > 0 else []


@handles("sum.default")
def sum_all(call, x, dtype=None):
    return converted(x, call.element()).reduce("sum", axes_of(x, None))


@handles("sum.dim_IntList")
def sum_over(call, x, dim, keepdim=False, dtype=None):
    return converted(x, call.element()).reduce("sum", axes_of(x, dim), keepdim)


@handles("mean.default")
def mean_all(call, x, dtype=None):
    return converted(x, call.element()).reduce("mean", axes_of(x, None))


@handles("mean.dim")
def mean(call, x, dim, keepdim=False, dtype=None):
    return converted(x, call.element()).reduce("mean", axes_of(x, dim), keepdim)


@handles("prod.default")
def prod_all(call, x, dtype=None):
    return converted(x, call.element()).reduce("prod", axes_of(x, None))


@handles("prod.dim_int")
def prod(call, x, dim, keepdim=False, dtype=None):
    return converted(x, call.element()).reduce("prod", axes_of(x, dim), keepdim)


@handles("amax.default", "amin.default")
def extremes(call, x, dim=(), keepdim=False):
    return _extreme(x, call.name[1:], axes_of(x, list(dim)), keepdim)


@handles("max.default", "min.default")
def extreme_of_all(call, x):
    return _extreme(x, call.name, axes_of(x, None), False)


def _extreme(x, op, axes, keepdim):
    """Reduces by max or min. Booleans are reduced as the numbers 0 and 1."""
    is_bool = x.element == "bool"
    return (x.cast("u8") if is_bool else x).reduce(op, axes, keepdim).cast(x.element)


@handles("any.default", "all.default")
def any_of_all(call, x):
    return _any(call, x, axes_of(x, None), False)


@handles("any.dim", "all.dim", "any.dims", "all.dims")
def any_over(call, x, dim=None, keepdim=False):
    return _any(call, x, axes_of(x, dim), keepdim)


def _any(call, x, axes, keepdim):
    op = "max" if call.name == "any" else "min"
    if any(x.shape[axis] == 0 for axis in axes):
        shape = call.shape()
        return call.graph.full(shape, int(op == "min"), call.element())
    return truth(x).cast("u8").reduce(op, axes, keepdim).cast(call.element())


def index_of_extreme(x, op, axis, keepdim):
    """Returns the index of the first greatest or first least element. A NaN is chosen before any
    number."""
    if x.rank == 0:
        return x.graph.number(0, "i64")
    if x.element == "bool":
        x = x.cast("u8")
    return x.graph.emit(f"arg{op}", x, axis=axis % x.rank, keepdims=int(keepdim), select_last_index=0)


@handles("argmax.default", "argmin.default")
def arg_extreme(call, x, dim=None, keepdim=False):
    op = call.name[3:]
    if dim is None:
        index = index_of_extreme(x.reshape((x.count,)), op, 0, False)
        return index.reshape(call.shape())
    return index_of_extreme(x, op, dim, keepdim)


@handles("max.dim", "min.dim")
def extreme_and_index(call, x, dim, keepdim=False):
    axes = axes_of(x, dim)
    return (_extreme(x, call.name, axes, keepdim), index_of_extreme(x, call.name, dim, keepdim))


def _moments(x, axes, correction, keepdim):
    """Returns variance and mean, computed in float64 like torch. Squares of float32 do not overflow
    there, and a mean much larger than the deviations loses no digits."""
    wide = x.cast("f64")
    mean = wide.reduce("mean", axes, True)
    centered = wide - mean
    total = (centered * centered).reduce("sum", axes, keepdim)
    count = math.prod(x.shape[axis] for axis in axes)
    divisor = max(count - (1 if correction is None else correction), 0)
    return total / float(divisor), mean.reshape(total.shape)


@handles("var.correction", "std.correction")
def var(call, x, dim=None, correction=None, keepdim=False):
    y, _ = _moments(x, axes_of(x, dim), correction, keepdim)
    return (y.unary("sqrt") if call.name == "std" else y).cast(x.element)


@handles("var.dim", "std.dim")
def var_unbiased(call, x, dim, unbiased=True, keepdim=False):
    return var(call, x, dim, int(unbiased), keepdim)


@handles("var_mean.correction", "std_mean.correction")
def var_mean(call, x, dim=None, correction=None, keepdim=False):
    y, mean = _moments(x, axes_of(x, dim), correction, keepdim)
    y = y.unary("sqrt") if call.name == "std_mean" else y
    return y.cast(x.element), mean.cast(x.element)


@handles("logsumexp.default")
def logsumexp(call, x, dim, keepdim=False):
    return x.cast(call.element()).reduce("log_sum_exp", axes_of(x, dim), keepdim)


_NORMS = {1: "l1", 2: "l2"}


@handles("linalg_vector_norm.default")
def vector_norm(call, x, order=2, dim=None, keepdim=False, dtype=None):
    axes = axes_of(x, dim)
    x = x.cast(call.element())
    if abs(order) == math.inf:
        return x.unary("abs").reduce("max" if order > 0 else "min", axes, keepdim)
    if order in _NORMS:
        return x.reduce(_NORMS[order], axes, keepdim) if axes else x.unary("abs")
    if order == 0:
        return x.compare("ne", 0).cast(x.element).reduce("sum", axes, keepdim)
    wide = widened(x).unary("abs")
    power = wide.graph.emit("pow", wide, wide.number(order)).reduce("sum", axes, keepdim)
    return power.graph.emit("pow", power, power.number(1 / order)).cast(x.element)


@handles("cumsum.default")
def cumsum(call, x, dim, dtype=None):
    x = converted(x, call.element())
    if x.rank == 0:
        return x
    return x.unary("cumsum", axis=dim % x.rank)


@handles("cumprod.default")
def cumprod(call, x, dim, dtype=None):
    """Computes a running product by one multiplication per element."""
    x = converted(x, call.element())
    if x.rank == 0 or x.count == 0:
        return x
    axis = dim % x.rank
    if x.shape[axis] > _MOST_FACTORS:
        raise Rejected(f"a running product of {x.shape[axis]} elements, expected at most "
                      f"{_MOST_FACTORS}")
    products = [x.slice(axis, 0, 1)]
    for i in range(1, x.shape[axis]):
        products.append(products[-1] * x.slice(axis, i, i + 1))
    return call.graph.concat(products, axis)


@handles("histc.default")
def histc(call, x, bins=100, least=0, most=0):
    """Counts the elements in each of `bins` equal parts of a range. A part includes its beginning,
    the last part also its end."""
    if least == most:
        raise Rejected("a range that is that of the values")
    g = call.graph
    wide = x.cast("f64").reshape((x.count, 1))
    number = ((wide - least) * (bins / (most - least))).unary("floor")
    inside = wide.compare("ge", least) & wide.compare("le", most)
    hits = number.min(bins - 1).compare("eq", g.iota(bins, "f64")) & inside
    return hits.cast("i64").reduce("sum", [0]).cast(call.element())
