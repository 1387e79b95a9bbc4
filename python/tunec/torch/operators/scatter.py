"""Writes to places that indices name, written the other way round: each element of the result looks
for what belongs there, as graph/onnx/handlers/scatter.cc has it. It costs the elements of the axis
times the updates along it.
"""
from ..builder import Value, numel
from ..errors import Refused
from ..handler_table import handles
from .conversions import converted
from .indexing import Places, from_start

_MOST_COMPARISONS = 1 << 30


def _check(count):
    if count > _MOST_COMPARISONS:
        raise Refused(f"{count} comparisons of elements with updates, wanted at most "
                      f"{_MOST_COMPARISONS}")


class Combination:
    """How updates of one element combine with it: none, sum, prod, amax, amin, mean."""

    _OPS = {"sum": "sum", "mean": "sum", "prod": "prod", "amax": "max", "amin": "min"}

    def __init__(self, name, include_self=True):
        if name != "none" and name not in self._OPS:
            raise Refused(f"a reduction {name!r}")
        self.name = name
        self.include_self = include_self

    @property
    def replaces(self):
        return self.name == "none"

    def _neutral(self, updates):
        """An update that changes nothing. What no update hits is not asked."""
        if self.name in ("sum", "mean"):
            return 0
        if self.name == "prod":
            return 1
        opposite = "min" if self.name == "amax" else "max"
        return updates.reduce(opposite, range(updates.rank))

    def reduced(self, hits, updates, axis):
        """Of the updates that hit, along an axis."""
        chosen = updates.graph.where(hits, updates, self._neutral(updates))
        return chosen.reduce(self._OPS[self.name], [axis])

    def combined(self, element, update, hits, axis):
        """What becomes of an element that is hit."""
        y = update
        if self.include_self:
            y = {"sum": lambda: element + update, "mean": lambda: element + update,
                 "prod": lambda: element * update, "amax": lambda: element.max(update),
                 "amin": lambda: element.min(update)}[self.name]()
        if self.name != "mean":
            return y
        count = hits.cast("i64").reduce("sum", [axis])
        total = (count + int(self.include_self)).max(1).cast(y.element)
        if y.is_float:
            return y / total
        from .rounding import _floored_integers
        return _floored_integers(*y.graph.broadcast(y, total))


def _any(hits, axis, keep=False):
    return hits.cast("u8").reduce("max", [axis], keep).cast("bool")


def _last(hits, axis):
    return hits.graph.emit("argmax", hits.cast("u8"), axis=axis, keepdims=0, select_last_index=1)


def scatter_rows(data, indices, updates, combination):
    """Of rows data[n, inner], those at indices[u] replaced by or combined with updates[u, inner].
    Of several updates without a reduction the last one counts."""
    g = data.graph
    rows, inner = data.shape
    count = indices.shape[0]
    if count == 0 or rows == 0 or inner == 0:
        return data
    _check(rows * count * (1 if combination.replaces else inner))
    hits = g.iota(rows).unsqueeze(1).compare("eq", indices.unsqueeze(0))  # [n, u]
    hit = _any(hits, 1, True)
    if combination.replaces:
        return g.where(hit, updates.gather(_last(hits, 1), 0), data)
    each = hits.unsqueeze(2)
    reduced = combination.reduced(each, updates.unsqueeze(0), 1)
    return g.where(hit, combination.combined(data, reduced, each, 1), data)


def _grown(x, axis, shape, filler):
    """x with its axes but one grown to those of `shape`, and that one last."""
    pads = [0] * x.rank + [0 if d == axis else shape[d] - x.shape[d] for d in range(x.rank)]
    return x.pad(pads, float(filler)).swap(axis, x.rank - 1)


def scatter_elements(data, axis, index, updates, combination):
    """Each update has its own index along the axis; its other positions are its own."""
    g = data.graph
    extent, count = data.shape[axis], index.shape[axis]
    if data.count == 0 or index.count == 0:
        return data
    updates = _cut(updates, index.shape)
    at = _grown(from_start(index, extent), axis, data.shape, -1)  # -1 hits nothing
    values = _grown(updates, axis, data.shape, 0)
    x = data.swap(axis, data.rank - 1)
    _check(x.count * count)
    hits = g.iota(extent).unsqueeze(1).compare("eq", at.unsqueeze(-2))
    along = x.rank
    hit = _any(hits, along)
    if combination.replaces:
        y = g.where(hit, values.gather_elements(_last(hits, along), x.rank - 1), x)
    else:
        reduced = combination.reduced(hits, values.unsqueeze(-2), along)
        y = g.where(hit, combination.combined(x, reduced, hits, along), x)
    return y.swap(axis, x.rank - 1)


def _cut(updates, shape):
    """torch reads as much of the source as there are indices."""
    for axis, size in enumerate(shape):
        updates = updates.slice(axis, 0, size)
    return updates


def _scattered(x, dim, index, source, combination):
    if x.rank == 0 or index.rank == 0:
        shape = x.shape
        flat = x.reshape((x.count,))
        source = source.reshape((source.count,))
        index = index.reshape((index.count,))
        return scatter_elements(flat, 0, index, source, combination).reshape(shape)
    if index.count == 0:
        return x
    return scatter_elements(x, dim % x.rank, index, source, combination)


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
    """x[indices] = values, or += them."""
    places = Places(x, indices)
    numbers = places.numbers()
    shape = numbers.shape
    rest = [x.shape[axis] for axis in places.rest]
    order = places.order()
    wanted = [*shape, *rest]
    spread = values.cast(x.element).expand([wanted[axis] for axis in order])
    updates = spread.transpose([order.index(axis) for axis in range(len(order))])
    updates = updates.reshape((numel(shape), numel(rest)))
    rows = scatter_rows(places.rows(x), numbers.reshape((numel(shape),)), updates, combination)
    return places.unrow(rows)


def _masked(call, x, mask, values, accumulate):
    """One number where a mask is true."""
    if values.count != 1:
        raise Refused("a mask as an index: which value goes where depends on values")
    rest = x.rank - mask.rank
    condition = mask.reshape((*mask.shape, *[1] * rest))
    value = values.cast(x.element).reshape(())
    return call.graph.where(condition, x + value if accumulate else value, x)


@handles("index_put.default", "_unsafe_index_put.default")
def index_put(call, x, indices, values, accumulate=False, *_):
    if not any(i is not None for i in indices):
        return values.cast(x.element).expand(x.shape)
    if len(indices) == 1 and indices[0].element == "bool":
        return _masked(call, x, indices[0], values, accumulate)
    if x.element == "bool" and accumulate:
        raise Refused("sums of booleans")
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
    """Slices along an axis at the places of `index`."""
    if x.rank == 0:
        return _along(x.reshape((1,)), 0, index, source.reshape((1,)), combination).reshape(())
    indices = [None] * x.rank
    indices[dim % x.rank] = index.reshape((index.count,))
    return _put(x, indices, source.reshape([index.count if d == dim % x.rank else size
                                            for d, size in enumerate(x.shape)]), combination)


@handles("embedding_dense_backward.default")
def embedding_dense_backward(call, gradient, indices, rows, padding_idx, scale_by_freq):
    if scale_by_freq:
        raise Refused("gradients by frequency")
    width = gradient.shape[-1]
    at, g = indices.cast("i64").reshape((indices.count,)), call.graph
    updates = gradient.reshape((indices.count, width))
    if padding_idx >= 0:
        updates = g.where(at.compare("eq", padding_idx).unsqueeze(-1), 0, updates)
    zeros = g.full((rows, width), 0, gradient.element)
    return scatter_rows(zeros, at, updates, Combination("sum"))
