"""Imports writes by index as the graph's scatter. Its cost grows with the number of updates, not
with the size of the target. If the old target is still used, it is copied first."""
from ..builder import Value
from ..errors import Rejected
from ..handler_table import handles
from .conversions import converted
from .indexing import IndexPositions


class Combination:
    """A way to combine updates with an element: none (replace), sum, prod, amax, amin, mean."""

    _REDUCTIONS = {"none": "none", "sum": "add", "mean": "add", "prod": "mul", "amax": "max",
                   "amin": "min"}

    def __init__(self, name, include_self=True):
        if name not in self._REDUCTIONS:
            raise Rejected(f"a reduction {name!r}")
        self.name = name
        self.include_self = include_self

    def scattered(self, x, indices, updates, axis, depth=1):
        """Returns x with the updates combined into it along an axis. With a depth, an index is a
        position over `depth` axes."""
        if x.count == 0 or updates.count == 0:
            return x
        if self.name != "none" and x.element == "bool":
            raise Rejected(f"{self.name} of booleans")
        start = x
        if self.name != "none" and not self.include_self:
            start = x.scatter(indices, self._first(updates), axis, depth)
        y = start.scatter(indices, updates, axis, depth, self._REDUCTIONS[self.name])
        return self._divided(y, indices, updates, axis, depth) if self.name == "mean" else y

    def _first(self, updates):
        """Returns values that replace the updated elements first, if the old values do not count.
        For prod they are 1, for sum and mean 0. For amax and amin they are the updates: if several
        updates have one index, any of them may be stored, since the extreme of all follows."""
        if self.name in ("amax", "amin"):
            return updates
        return updates.graph.full(updates.shape, int(self.name == "prod"), updates.element)

    def _divided(self, total, indices, updates, axis, depth):
        g = total.graph
        count = g.full(total.shape, int(self.include_self), "i64").scatter(
            indices, g.full(updates.shape, 1, "i64"), axis, depth, "add")
        count = count.max(1).cast(total.element)
        if total.is_float:
            return total / count
        from .rounding import _floored_integers
        return _floored_integers(total, count)


def _cut(updates, shape):
    """Slices the updates to the shape of the indices, since torch ignores the rest of the
    source."""
    for axis, size in enumerate(shape):
        updates = updates.slice(axis, 0, size)
    return updates


def _scattered(x, dim, index, source, combination):
    if x.rank == 0 or index.rank == 0:
        flat = x.reshape((x.count,))
        index = index.reshape((index.count,))
        source = source.reshape((source.count,)).slice(0, 0, index.count)
        return combination.scattered(flat, index, source, 0).reshape(x.shape)
    return combination.scattered(x, index, _cut(source, index.shape), dim % x.rank)


@handles("scatter.src", "scatter.value")
def scatter(call, x, dim, index, source):
    if not isinstance(source, Value):
        source = call.graph.full(index.shape, source, x.element)
    return _scattered(x, dim, index, source, Combination("none"))


_REDUCE = {"add": "sum", "multiply": "prod"}


@handles("scatter.reduce", "scatter.value_reduce")
def scatter_combined(call, x, dim, index, source, *, reduce=None):
    if not isinstance(source, Value):
        source = call.graph.full(index.shape, source, x.element)
    return _scattered(x, dim, index, source, Combination(_REDUCE[reduce]))


@handles("scatter_add.default")
def scatter_add(call, x, dim, index, source):
    return _scattered(x, dim, index, source, Combination("sum"))


@handles("scatter_reduce.two")
def scatter_reduce(call, x, dim, index, source, reduce, include_self=True):
    return _scattered(x, dim, index, source, Combination(reduce, include_self))


def _put(x, indices, values, combination):
    """Returns x after x[indices] = values, or after combining the values with these elements."""
    positions = IndexPositions(x, indices)
    order = positions.order()
    sizes = [*positions.shape, *(x.shape[axis] for axis in positions.rest)]
    spread = values.cast(x.element).expand([sizes[axis] for axis in order])
    # Positions are numbered together with the whole axes between the indexed axes.
    begin, end = positions.axes[0], positions.axes[-1] + 1
    count = len(positions.shape)
    before = [count + i for i, axis in enumerate(positions.rest) if axis < begin]
    between = [count + i for i, axis in enumerate(positions.rest) if begin < axis < end]
    after = [count + i for i, axis in enumerate(positions.rest) if axis >= end]
    perm = [order.index(axis) for axis in (*before, *range(count), *between, *after)]
    numbers = positions.numbers_between()
    updates = spread.transpose(perm).reshape(
        (*x.shape[:begin], numbers.count, *x.shape[end:]))
    at = numbers.reshape((*[1] * begin, numbers.count, *[1] * (x.rank - end)))
    return combination.scattered(x, at, updates, begin, end - begin)


def _masked(call, x, mask, values, accumulate):
    """Writes or adds one number where a mask is true."""
    if values.count != 1:
        raise Rejected("a mask as an index: which value goes where depends on values")
    rest = x.rank - mask.rank
    condition = mask.reshape((*mask.shape, *[1] * rest))
    value = values.cast(x.element).reshape(())
    return call.graph.where(condition, x + value if accumulate else value, x)


@handles("masked_scatter.default")
def masked_scatter(call, x, mask, source):
    """Writes the elements of `source`, in order, where a mask is true. The index of an element in
    the source is the number of true mask elements before it."""
    shape = call.shape()
    mask, x = mask.expand(shape), x.expand(shape)
    if x.count == 0 or source.count == 0:
        return x
    taken = mask.reshape((mask.count,)).cast("i64").unary("cumsum", axis=0, exclusive=1)
    values = source.reshape((source.count,)).gather(taken.reshape(shape))
    return call.graph.where(mask, values, x)


@handles("index_put.default", "_unsafe_index_put.default")
def index_put(call, x, indices, values, accumulate=False, *_):
    if not any(i is not None for i in indices):
        return values.cast(x.element).expand(x.shape)
    if len(indices) == 1 and indices[0].element == "bool":
        return _masked(call, x, indices[0], values, accumulate)
    if x.element == "bool" and accumulate:
        raise Rejected("sums of booleans")
    return _put(x, indices, values, Combination("sum" if accumulate else "none"))


@handles("index_add.default")
def index_add(call, x, dim, index, source, *, alpha=1):
    if alpha != 1:
        source = source * alpha
    return _along(x, dim, index, source, Combination("sum"))


@handles("index_copy.default")
def index_copy(call, x, dim, index, source):
    return _along(x, dim, index, source, Combination("none"))


@handles("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(call, x, dim, index, value):
    if not isinstance(value, Value):
        value = call.graph.number(value, x.element)
    axis = dim % max(x.rank, 1)
    shape = [index.count if d == axis else size for d, size in enumerate(x.shape)]
    return _along(x, dim, index, value.cast(x.element).expand(shape), Combination("none"))


@handles("index_reduce.default")
def index_reduce(call, x, dim, index, source, reduce, *, include_self=True):
    return _along(x, dim, index, source, Combination(reduce, include_self))


def _along(x, dim, index, source, combination):
    """Combines slices of `source` with the slices of x at the positions `index` along an axis."""
    if x.rank == 0:
        return _along(x.reshape((1,)), 0, index, source.reshape((1,)), combination).reshape(())
    axis = dim % x.rank
    at = index.reshape([index.count if d == axis else 1 for d in range(x.rank)])
    updates = converted(source, x.element).reshape(
        [index.count if d == axis else size for d, size in enumerate(x.shape)])
    return combination.scattered(x, at, updates, axis)


@handles("embedding_dense_backward.default")
def embedding_dense_backward(call, gradient, indices, rows, padding_idx, scale_by_freq):
    if scale_by_freq:
        raise Rejected("gradients by frequency")
    width = gradient.shape[-1]
    at, g = indices.cast("i64").reshape((indices.count,)), call.graph
    updates = gradient.reshape((indices.count, width))
    if padding_idx >= 0:  # the row index is out of range, so scatter skips it
        at = g.where(at.compare("eq", padding_idx), rows, at)
    zeros = g.full((rows, width), 0, gradient.element)
    return Combination("sum").scattered(zeros, at.unsqueeze(-1), updates, 0)
