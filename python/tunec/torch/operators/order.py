"""Imports operators that order rows: sorts, the k greatest, medians.

Long rows are sorted by a bitonic network of pairs (value, original index). Short rows are ordered
by counting how many elements come before each element. Of two equal elements, the earlier one comes
first, so every sort is stable. graph/onnx/handlers/order.cc imports TopK in the same way; it also
splits long rows into pieces whose maxima are compared first.

Layout in memory: rows of K elements, K a power of two, are stored as [K, rows], so that a stage of
the network reads whole cache lines.
"""
import math

from ..errors import Rejected
from ..handler_table import handles
from .promotion import widened

# Rows are ordered by counting if they have at most _MOST_COUNTED elements, or if all rows together
# need at most _MOST_COMPARISONS comparisons. Up to these limits counting costs no more than a network.
_MOST_COUNTED = 32
_MOST_COMPARISONS = 1 << 17
# Indices are i32. This bit is set in the index of an element that comes after elements with the
# same compared value (see _comparable).
_LATER = 1 << 30
_MOST_ELEMENTS = _LATER
_LAST_INDEX = (1 << 31) - 1


class _Pairs:
    """Values and their original indices, of one shape."""

    def __init__(self, values, indices):
        self.values = values
        self.indices = indices

    def each(self, move):
        return _Pairs(move(self.values), move(self.indices))

    def precedes(self, other):
        earlier = (self.values.compare("eq", other.values) &
                   self.indices.compare("lt", other.indices))
        return other.values.compare("lt", self.values) | earlier

    def chosen(self, condition, other):
        where = self.values.graph.where
        return _Pairs(where(condition, self.values, other.values),
                      where(condition, self.indices, other.indices))


def _comparable(x, indices, largest):
    """Returns pairs in a type that is quick to compare, without NaN. In the order of pairs, greater
    values come first.

    NaN counts as greater than infinity, and both have the value infinity. A bit of the index marks
    those that come later: infinities if the greatest elements come first, else NaN."""
    if not x.is_float:
        wide = x.cast("i32" if x.element in ("bool", "i8", "u8", "i16", "u16") else x.element)
        return _Pairs(wide if largest else ~wide, indices)
    x, where = widened(x), x.graph.where
    is_nan = x.unary("isnan")
    is_later = x.compare("eq", math.inf) if largest else is_nan
    number = where(is_nan, math.inf, x)
    return _Pairs(number if largest else -number, where(is_later, indices + _LATER, indices))


def _last_value(element):
    """Returns the value of a type that comes last in the order of pairs."""
    if element.startswith("u"):
        return 0
    return -(1 << (int(element[1:]) - 1)) if element.startswith("i") else -math.inf


def _reversed(x, axis):
    starts, ends, steps = [0] * x.rank, list(x.shape), [1] * x.rank
    starts[axis], ends[axis], steps[axis] = x.shape[axis] - 1, -1, -1
    return x.graph.emit("slice", x, starts=starts, ends=ends, steps=steps)


class _Network:
    """A bitonic network that sorts all rows at once. Its pairs have the shape [K, rows]."""

    def __init__(self, pairs, rows, length):
        self.size = 1 << max(length - 1, 0).bit_length()
        self.rows = rows
        missing = self.size - length

        def load(filler):
            return lambda x: x.pad([0, 0, 0, missing], filler).transpose([1, 0])
        values = load(float(_last_value(pairs.values.element)))(pairs.values)
        indices = load(float(_LAST_INDEX))(pairs.indices.expand((rows, length)))
        self.pairs = _Pairs(values, indices)

    def sort(self):
        done = 1
        while done < self.size:
            self._exchange(done, self._mirrored(done))
            distance = done // 2
            while distance >= 1:
                self._exchange(distance, self._shifted(distance))
                distance //= 2
            done *= 2
        return self.pairs.each(lambda x: x.transpose([1, 0]))

    def _mirrored(self, distance):
        """Returns, for each element, its mirror image within blocks of twice `distance`."""
        shape = (self.size // (2 * distance), 2 * distance, self.rows)
        return self.pairs.each(lambda x: _reversed(x.reshape(shape), 1).reshape(x.shape))

    def _shifted(self, distance):
        """Returns, for each element, the element whose index differs in the bit `distance`."""
        shape = (self.size // (2 * distance), 2, distance, self.rows)
        return self.pairs.each(lambda x: _reversed(x.reshape(shape), 1).reshape(x.shape))

    def _exchange(self, distance, partners):
        """Compares each pair with its partner. The lower position gets the pair that comes first."""
        graph = self.pairs.values.graph
        bit = graph.iota(self.size, "i32") & distance
        upper = bit.compare("ne", 0).unsqueeze(1)
        stays = graph.emit("xor", self.pairs.precedes(partners), upper)
        self.pairs = self.pairs.chosen(stays, partners)


def _counted(pairs, rows, length, k):
    """Returns the original indices of the first k elements of each row, [rows, k]; pairs are [rows,
    length]. The rank of an element is the number of elements that come before it."""
    graph = pairs.values.graph
    own = pairs.each(lambda x: x.unsqueeze(2))
    other = pairs.each(lambda x: x.unsqueeze(1))
    ranks = other.precedes(own).cast("i32").reduce("sum", [2])  # [rows, length]
    here = ranks.unsqueeze(1).compare("eq", graph.iota(k, "i32").reshape((k, 1)))
    indices = pairs.indices.unsqueeze(1)
    return graph.where(here, indices, 0).reduce("max", [2])


def first_indices(x, axis, k, largest):
    """Returns the original indices (i64) of the first k elements along an axis, in order. In the
    result, that axis has size k."""
    rows, length = x.count // max(x.shape[axis], 1), x.shape[axis]
    if x.count > _MOST_ELEMENTS:
        raise Rejected(f"more than {_MOST_ELEMENTS} elements in order")
    graph = x.graph
    turned = x.swap(axis, x.rank - 1)
    indices = graph.iota(length, "i32").unsqueeze(0)
    pairs = _comparable(turned.reshape((rows, length)), indices, largest)
    if length <= _MOST_COUNTED or rows * length * length <= _MOST_COMPARISONS:
        found = _counted(pairs, rows, length, k)
    else:
        found = _Network(pairs, rows, length).sort().indices.slice(1, 0, k)
    found = found & (_LATER - 1)
    # The clamp proves the range, so the compiler emits no check at run time.
    found = found.cast("i64").max(0).min(length - 1)
    return found.reshape((*turned.shape[:-1], k)).swap(axis, x.rank - 1)


def _ordered(call, x, dim, k, largest):
    if x.rank == 0:
        return x, call.graph.number(0, "i64")
    axis = dim % x.rank
    if x.count == 0 or k == 0:
        shape = [k if d == axis else size for d, size in enumerate(x.shape)]
        return call.graph.full(shape, 0, x.element), call.graph.full(shape, 0, "i64")
    indices = first_indices(x, axis, k, largest)
    return x.gather_elements(indices, axis), indices


@handles("topk.default")
def topk(call, x, k, dim=-1, largest=True, sort=True):
    return _ordered(call, x, dim, k, largest)


def _length(x, dim):
    return x.shape[dim] if x.rank else 1


@handles("sort.default")
def sort(call, x, dim=-1, descending=False):
    return _ordered(call, x, dim, _length(x, dim), descending)


@handles("sort.stable")
def sort_stable(call, x, stable=None, dim=-1, descending=False):
    return _ordered(call, x, dim, _length(x, dim), descending)


@handles("argsort.default")
def argsort(call, x, dim=-1, descending=False):
    return _ordered(call, x, dim, _length(x, dim), descending)[1]


@handles("kthvalue.default")
def kthvalue(call, x, k, dim=-1, keepdim=False):
    values, indices = _ordered(call, x, dim, k, False)
    if x.rank == 0:
        return values, indices
    axis = dim % x.rank

    def last(y):
        y = y.slice(axis, k - 1, k)
        return y if keepdim else y.reshape(call.shape())
    return last(values), last(indices)
