"""Imports reads of elements by index."""
from ..builder import numel
from ..errors import Rejected
from ..handler_table import handles


def from_start(indices, size):
    """Returns indices as i64, with negative indices counted from the end."""
    given = indices.cast("i64")
    return given.graph.where(given.compare("lt", 0), given + size, given)


@handles("index_select.default")
def index_select(call, x, dim, index):
    if x.rank == 0:
        return x.reshape(()) if index.count == 1 else x
    return x.gather(index.reshape((index.count,)), dim % x.rank)


@handles("embedding.default")
def embedding(call, weight, indices, *_):
    return weight.gather(indices, 0)


@handles("gather.default")
def gather(call, x, dim, index, *_, **__):
    if x.rank == 0:
        return x.expand(index.shape)
    if index.rank == 0:
        return x.gather(index, 0)
    return x.gather_elements(index, dim % x.rank)


@handles("take.default")
def take(call, x, index):
    return x.reshape((x.count,)).gather(index, 0)


class IndexPositions:
    """The indices of x[indices]: the indexed axes, and the common shape of the index tensors. In the
    result, the axes of this shape replace the indexed axes; the other axes stay whole."""

    def __init__(self, x, indices):
        if any(i is not None and i.element in ("bool", "u8") for i in indices):
            raise Rejected("a mask as an index: how many elements it selects depends on values")
        self.x = x
        self.axes = [axis for axis, i in enumerate(indices) if i is not None]
        self.rest = [axis for axis in range(x.rank) if axis not in self.axes]
        self.given = [i for i in indices if i is not None]
        self.shape = x.graph.broadcast(*self.given)[0].shape
        adjacent = self.axes == list(range(self.axes[0], self.axes[0] + len(self.axes)))
        # The axes of positions replace indexed axes that are adjacent; otherwise they come first.
        self.at = self.axes[0] if adjacent else 0
        self.sizes = [x.shape[axis] for axis in self.axes]

    def numbers(self):
        """Returns the position of each index within the indexed axes, numbered row-major."""
        total = None
        for index, size in zip(self.given, self.sizes):
            at = from_start(index, size)
            total = at if total is None else total * size + at
        assert total is not None
        return total.expand(self.shape)

    def numbers_between(self):
        """Returns the position of each index within the axes from the first indexed axis to the
        last, numbered row-major. Unindexed axes between these become further axes of the result,
        after those of the positions. With one indexed axis, numbers may be negative and count from the
        end."""
        if len(self.axes) == 1:
            return self.given[0]
        between = [axis for axis in self.rest if self.axes[0] < axis < self.axes[-1]]
        ones = [1] * len(between)
        given = dict(zip(self.axes, self.given))
        total = None
        for axis in range(self.axes[0], self.axes[-1] + 1):
            size = self.x.shape[axis]
            if axis in given:
                index = from_start(given[axis], size)
                at = index.reshape((*index.shape, *ones))
            else:
                at = self.x.graph.along(between.index(axis), len(between), size)
            total = at if total is None else total * size + at
        assert total is not None
        return total.expand((*self.shape, *(self.x.shape[axis] for axis in between)))

    def order(self):
        """Returns the permutation of a result with the axes of positions first to the axis order of
        x[indices]."""
        count = len(self.shape)
        return [*range(count, count + self.at), *range(count), *range(count + self.at,
                                                                     count + len(self.rest))]


def counts_up(index):
    """Tests if an index is 0, 1, 2, ... along one axis and constant along all other axes."""
    source = index
    while source.op != "range":
        adds_nothing = source.op == "add" and source.operands[1].elements == [0]
        if source.op not in ("reshape", "expand", "identity", "slice") and not adds_nothing:
            return False
        if source.op == "slice" and not source.passes_on():
            return False
        source = source.operands[0]
    if source.attributes["start"] != 0 or source.attributes["delta"] != 1:
        return False
    return [size for size in index.shape if size != 1] in ([], list(source.shape))


def _axes_of(positions):
    """Returns, for each index, the axis of positions along which it counts; None if an index does
    not count. An index of size 1 gets the first unused axis of size 1."""
    rank, taken = len(positions.shape), []
    for index in positions.given:
        if not counts_up(index):
            return None
        shape = (*[1] * (rank - index.rank), *index.shape)
        long = [axis for axis in range(rank) if shape[axis] != 1]
        free = [axis for axis in range(rank) if positions.shape[axis] == 1 and axis not in taken]
        if not long and not free:
            return None
        taken.append((long or free)[0])
    return taken if len(set(taken)) == len(taken) else None


def _turned(x, positions):
    """Returns x[indices] by slices and a transpose if each index counts along a different axis,
    else None."""
    counted = _axes_of(positions)
    if counted is None:
        return None
    for axis, along in zip(positions.axes, counted):
        if positions.shape[along] > x.shape[axis]:
            return None
        x = x.slice(axis, 0, positions.shape[along])
    in_order = [axis for _, axis in sorted(zip(counted, positions.axes))]
    turned = x.transpose([*in_order, *positions.rest])
    return turned.reshape((*positions.shape, *(x.shape[axis] for axis in positions.rest)))


@handles("index.Tensor", "_unsafe_index.Tensor")
def index(call, x, indices):
    given = [axis for axis, i in enumerate(indices) if i is not None]
    if not given:
        return x
    positions = IndexPositions(x, indices)
    turned = _turned(x, positions)
    if turned is not None:
        return turned.transpose(positions.order())
    if len(given) == 1:
        return x.gather(indices[given[0]], given[0])
    rest = [x.shape[axis] for axis in positions.rest]
    taken = x.transpose([*positions.axes, *positions.rest]).reshape((numel(positions.sizes), *rest))
    return taken.gather(positions.numbers(), 0).transpose(positions.order())


@handles("_embedding_bag.default", "_embedding_bag_forward_only.default")
def embedding_bag(call, weight, indices, offsets, scale_grad=False, mode=0, sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=-1):
    """Sums (mode 0) or averages (mode 1) the rows of each bag. A bag is a range of `indices`, from
    its offset to the next one."""
    if mode == 2 or padding_idx >= 0:
        raise Rejected("the greatest of a bag, or padding")
    g = call.graph
    rows = weight.gather(indices, 0)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    count, bags = indices.shape[0], offsets.shape[0] - int(include_last_offset)
    offsets = offsets.cast("i64")
    begins, end = offsets.slice(0, 0, bags), None
    if include_last_offset:
        end = offsets.slice(0, bags, bags + 1)
    y = _summed_bags(rows, begins, end)
    if mode == 1:
        last = g.full((1,), count, "i64") if end is None else end
        ends = g.concat([begins.slice(0, 1, bags), last], 0)
        y = y / (ends - begins).max(1).cast(weight.element).unsqueeze(-1)
    return (y, *[None] * (len(call.result) - 1))


def _summed_bags(rows, begins, end):
    """Returns the sum of the rows of each bag. Rows before the first bag and rows from index `end`
    on are in no bag. If `end` is None, the last bag has all remaining rows."""
    g, count, bags = rows.graph, rows.shape[0], begins.shape[0]
    zeros = g.full((bags, *rows.shape[1:]), 0, rows.element)
    if count == 0 or zeros.count == 0:
        return zeros
    bag = _bags_begun(begins, count) - 1
    is_inside = bag.compare("ge", 0)
    if end is not None:
        is_inside = is_inside & g.iota(count).compare("lt", end)
    # A row in no bag gets the index after the last bag, which scatter ignores.
    return zeros.scatter(g.where(is_inside, bag, bags).unsqueeze(-1), rows, 0, 1, "add")


def _bags_begun(begins, count):
    """Returns, for each row, the number of bags that begin at this row or before it."""
    g = begins.graph
    here = g.full((count,), 0, "i64").scatter(begins, g.full(begins.shape, 1, "i64"), 0, 1, "add")
    return here.unary("cumsum", axis=0)
