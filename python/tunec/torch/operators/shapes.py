"""Imports operators that move elements: slices, joins, repetition, padding, mirroring."""
from ..builder import Value, numel
from ..errors import Rejected
from ..handler_table import handles
from .conversions import converted

_NO_BOUND = 2 ** 62  # torch writes a greater number for a slice without an end


def slice_bounds(size, start, end):
    """Returns both ends of a slice by Python's rule."""
    begin = 0 if start is None else _clamped(start, size)
    stop = size if end is None else _clamped(end, size)
    return begin, max(begin, stop)


def _clamped(bound, size):
    """Returns a bound of a slice counted from the front and clamped to the axis."""
    if isinstance(bound, int) and bound >= _NO_BOUND:
        return size
    if bound < 0:
        return max(0, bound + size)
    return min(bound, size)


@handles("slice.Tensor", "slice_copy.Tensor")
def slice_axis(call, x, dim=0, start=None, end=None, step=1):
    axis = dim % x.rank
    begin, stop = slice_bounds(x.shape[axis], start, end)
    return x.slice(axis, begin, stop, step)


@handles("narrow.default")
def narrow(call, x, dim, start, length):
    axis = dim % x.rank
    begin = start + x.shape[axis] if start < 0 else start
    return x.slice(axis, begin, begin + length)


@handles("select.int", "select_copy.int")
def select(call, x, dim, index):
    axis = dim % x.rank
    if isinstance(index, Value):
        return x.gather(index.reshape(()), axis)
    at = index + x.shape[axis] if index < 0 else index
    return x.slice(axis, at, at + 1).reshape((*x.shape[:axis], *x.shape[axis + 1:]))


@handles("cat.default", "concat.default")
def cat(call, parts, dim=0):
    """Joins tensors. For historical reasons, torch permits tensors of shape [0] among tensors of
    other ranks."""
    element = call.element()
    parts = [x for x in parts if x.shape != (0,)] or parts[:1]
    return call.graph.concat([converted(x, element) for x in parts], dim % parts[0].rank)


@handles("stack.default")
def stack(call, parts, dim=0):
    element = call.element()
    axis = dim % (parts[0].rank + 1)
    return call.graph.concat([converted(x, element).unsqueeze(axis) for x in parts], axis)


def _pieces(x, axis, sizes):
    begin, pieces = 0, []
    for size in sizes:
        pieces.append(x.slice(axis, begin, begin + size))
        begin += size
    return tuple(pieces)


@handles("split_with_sizes.default", "split_with_sizes_copy.default", "split.sizes")
def split_with_sizes(call, x, sizes, dim=0):
    return _pieces(x, dim % x.rank, sizes)


@handles("split.Tensor")
def split(call, x, size, dim=0):
    axis = dim % x.rank
    whole, rest = divmod(x.shape[axis], size) if size else (1, 0)
    return _pieces(x, axis, [size] * whole + ([rest] if rest else []))


@handles("chunk.default")
def chunk(call, x, chunks, dim=0):
    axis = dim % x.rank
    return _pieces(x, axis, [call.shape(i)[axis] for i in range(len(call.result))])


@handles("unbind.int", "unbind_copy.int")
def unbind(call, x, dim=0):
    return tuple(select(call, x, dim, i) for i in range(x.shape[dim % x.rank]))


@handles("flip.default")
def flip(call, x, dims):
    starts, ends, steps = [0] * x.rank, list(x.shape), [1] * x.rank
    for axis in (d % x.rank for d in dims if x.rank):
        starts[axis], ends[axis], steps[axis] = x.shape[axis] - 1, -1, -1
    if x.count == 0 or x.rank == 0:
        return x
    return call.graph.emit("slice", x, starts=starts, ends=ends, steps=steps)


@handles("roll.default")
def roll(call, x, shifts, dims=()):
    if x.count == 0:
        return x
    if not dims:
        return _rolled(x.reshape((x.count,)), shifts[0], 0).reshape(x.shape)
    for shift, dim in zip(shifts, dims):
        x = _rolled(x, shift, dim % x.rank)
    return x


def _rolled(x, shift, axis):
    size = x.shape[axis]
    at = -shift % size
    if at == 0:
        return x
    return x.graph.concat([x.slice(axis, at, size), x.slice(axis, 0, at)], axis)


@handles("repeat.default")
def repeat(call, x, repeats):
    x = x.reshape((*[1] * (len(repeats) - x.rank), *x.shape))
    if all(n == 1 for n in repeats):
        return x
    if all(n == 1 or size == 1 for n, size in zip(repeats, x.shape)):
        return x.expand([n * size for n, size in zip(repeats, x.shape)])
    return call.graph.emit("tile", x, repeats=list(repeats))


def _pads_of(pad, rank):
    """Returns the padding before each axis, then the padding after each axis. torch lists (before,
    after) from the last axis on."""
    begins, ends = [0] * rank, [0] * rank
    for i in range(len(pad) // 2):
        begins[rank - 1 - i], ends[rank - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return [*begins, *ends]


@handles("constant_pad_nd.default")
def constant_pad(call, x, pad, value=0):
    pads = _pads_of(pad, x.rank)
    if x.element == "bool":
        return x.cast("u8").pad(pads, float(bool(value))).cast("bool")
    if not x.is_float and abs(value) > 2 ** 53:
        raise Rejected(f"an integer of more than 53 bits as padding: {value}")
    return x.pad(pads, float(value))


_PAD_MODES = {"reflection": "reflect", "replication": "edge"}


@handles(*(f"{kind}_pad{axes}d.default" for kind in _PAD_MODES for axes in (1, 2, 3)))
def mirror_pad(call, x, padding):
    return x.pad(_pads_of(padding, x.rank), mode=_PAD_MODES[call.name.split("_")[0]])


def index_table(graph, offset, sizes, strides):
    """Returns offset + sum of i * stride for each position: indices into the flattened elements."""
    rank = len(sizes)
    total = graph.number(offset, "i64").reshape([1] * rank)
    for axis, (size, stride) in enumerate(zip(sizes, strides)):
        if size > 1 and stride != 0:
            total = total + graph.along(axis, rank, size) * stride
    return total.expand(sizes)


@handles("diagonal.default", "diagonal_copy.default")
def diagonal(call, x, offset=0, dim1=0, dim2=1):
    """Returns the elements (i, i + offset) of two axes, along a new last axis."""
    first, second = dim1 % x.rank, dim2 % x.rank
    rest = [axis for axis in range(x.rank) if axis not in (first, second)]
    x = x.transpose([*rest, first, second])
    rows, columns = x.shape[-2:]
    length = call.shape()[-1]
    begin = offset if offset >= 0 else -offset * columns
    flat = x.reshape((*x.shape[:-2], rows * columns))
    if length == 0:
        return flat.slice(flat.rank - 1, 0, 0)
    end = begin + (length - 1) * (columns + 1) + 1
    return flat.slice(flat.rank - 1, begin, end, columns + 1)


@handles("select_scatter.default")
def select_scatter(call, x, source, dim, index):
    axis = dim % x.rank
    at = index % x.shape[axis]
    return _with_part(x, converted(source, x.element).unsqueeze(axis), axis, at, at + 1)


@handles("slice_scatter.default")
def slice_scatter(call, x, source, dim=0, start=None, end=None, step=1):
    axis = dim % x.rank
    begin, stop = slice_bounds(x.shape[axis], start, end)
    if step == 1:
        return _with_part(x, converted(source, x.element), axis, begin, stop)
    return _with_every(x, converted(source, x.element), axis, begin, step)


def _with_part(x, part, axis, begin, end):
    """Returns x with a range of an axis replaced by `part`. If x is an input, it may be a buffer
    that is updated in place. Then a scatter is used, since joining parts would copy the buffer."""
    size = x.shape[axis]
    if 0 < end - begin < size and _is_given(x):
        through = _written_through(x, part, axis, begin, end)
        return _with_every(x, part, axis, begin, 1) if through is None else through
    parts = [x.slice(axis, 0, begin), part, x.slice(axis, end, size)]
    return x.graph.concat([p for p in parts if p.shape[axis] > 0] or parts[:1], axis)


def _is_given(x):
    """Tests for an input, a slice of one, or an input after scatters."""
    while x.op in ("slice", "scatter"):
        x = x.operands[0]
    return x.op == "input"


def _written_through(x, part, axis, begin, end):
    """If `part` is a scatter into the slice [:end] of x along `axis`, returns the same scatter into
    x, else None. Also returns None if the scatter's indices count along `axis`."""
    if begin > 0 or part.op != "scatter":
        return None
    numbered = part.attributes["axis"]
    data, indices, updates = part.operands
    is_cut = (data.op == "slice" and data.operands[0] is x and
              data.attributes == x.slice(axis, 0, end).attributes)
    if not is_cut or numbered <= axis < numbered + part.attributes["depth"]:
        return None
    return x.scatter(indices, updates, **part.attributes)


def _with_every(x, part, axis, begin, step):
    """Returns x whose elements at begin, begin + step, ... along an axis are replaced by `part`."""
    if part.count == 0:
        return x
    count = part.shape[axis]
    shape = [count if d == axis else 1 for d in range(x.rank)]
    return x.scatter(x.graph.iota(count, start=begin, step=step).reshape(shape), part, axis)


@handles("diagonal_scatter.default")
def diagonal_scatter(call, x, source, offset=0, dim1=0, dim2=1):
    g = call.graph
    first, second = dim1 % x.rank, dim2 % x.rank
    rest = [axis for axis in range(x.rank) if axis not in (first, second)]
    perm = [*rest, first, second]
    turned = x.transpose(perm)
    rows, columns = turned.shape[-2:]
    row, column = g.along(0, 2, rows), g.along(1, 2, columns)
    hit = (column - row).compare("eq", offset)
    length = source.shape[-1]
    if length == 0:
        return x
    at = (row if offset >= 0 else column).max(0).min(length - 1).reshape(
        (rows,) if offset >= 0 else (columns,))
    spread = converted(source, x.element).gather(at, source.rank - 1)
    spread = spread.unsqueeze(-1 if offset >= 0 else -2)
    y = g.where(hit, spread, turned)
    return y.transpose([perm.index(axis) for axis in range(x.rank)])


@handles("unfold.default", "unfold_copy.default")
def unfold(call, x, dim, size, step):
    """Returns windows along an axis. The elements of a window are along a new last axis."""
    if x.rank == 0:
        return x.reshape((1,)) if size == 1 else x.expand((size,))
    axis = dim % x.rank
    count = (x.shape[axis] - size) // step + 1
    g = call.graph
    indices = g.along(0, 2, count) * step + g.along(1, 2, size)
    y = x.gather(indices, axis)  # [..., count, size, ...]
    perm = [i for i in range(y.rank) if i != axis + 1]
    return y.transpose([*perm, axis + 1])


@handles("pixel_shuffle.default")
def pixel_shuffle(call, x, factor):
    *front, channels, height, width = x.shape
    out, n = channels // factor ** 2, len(x.shape) - 3
    apart = x.reshape((*front, out, factor, factor, height, width))
    turned = apart.transpose([*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return turned.reshape((*front, out, height * factor, width * factor))


@handles("pixel_unshuffle.default")
def pixel_unshuffle(call, x, factor):
    *front, channels, height, width = x.shape
    n = len(front)
    apart = x.reshape((*front, channels, height // factor, factor, width // factor, factor))
    turned = apart.transpose([*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return turned.reshape((*front, channels * factor ** 2, height // factor, width // factor))


@handles("repeat_interleave.self_int")
def repeat_interleave(call, x, repeats, dim=None, *_, **__):
    if dim is None:
        x, dim = x.reshape((x.count,)), 0
    axis = dim % x.rank
    apart = x.unsqueeze(axis + 1)
    shape = (*x.shape[:axis + 1], repeats, *x.shape[axis + 1:])
    return apart.expand(shape).reshape(call.shape())


@handles("as_strided.default", "as_strided_copy.default")
def as_strided(call, x, size, stride, offset=None):
    """Reads elements by strides. This is valid if x is dense and row-major, as all computed values
    are."""
    begin = offset or 0
    last = begin + sum((n - 1) * s for n, s in zip(size, stride))
    if numel(size) == 0:
        return call.graph.full(size, 0, x.element)
    if last >= x.count or begin < 0:
        raise Rejected("elements behind the tensor")
    if list(stride) == dense_strides(size):
        flat = x.reshape((x.count,)).slice(0, begin, begin + numel(size))
        return flat.reshape(size)
    return x.reshape((x.count,)).gather(index_table(call.graph, begin, size, stride), 0)


def dense_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


@handles("as_strided_scatter.default")
def as_strided_scatter(call, x, source, size, stride, offset=None):
    """Replaces the elements that as_strided would read with these sizes and strides."""
    begin = offset or 0
    if source.count == 0:
        return x
    if begin + sum((n - 1) * s for n, s in zip(size, stride)) >= x.count:
        raise Rejected("elements behind the tensor")
    flat, source = x.reshape((x.count,)), source.reshape((source.count,))
    long = [(n, s) for n, s in zip(size, stride) if n > 1]
    if [s for _, s in long] == dense_strides([n for n, _ in long]):
        parts = [flat.slice(0, 0, begin), source, flat.slice(0, begin + source.count, x.count)]
        return x.graph.concat([p for p in parts if p.count > 0], 0).reshape(x.shape)
    at = index_table(call.graph, begin, size, stride).reshape((source.count,))
    return flat.scatter(at, source, 0).reshape(x.shape)
