"""Imports max pools with indices, and their gradients.

Windows are read in channels-last order, the order in which the surrounding convolutions are fast.
Each step then reads contiguous elements and does the same for all channels. Only `_spread` works
channels-first.
"""
import itertools
import math

import torch

from ..element_types import torch_dtype
from ..errors import Rejected
from ..handler_table import handles
from .pools import Window, batched, max_pool, unbatched
from .promotion import widened
from .scatter import Combination

_MOST_WINDOW_ELEMENTS = 64  # elements of a window with indices; each becomes a few nodes
_MOST_WINDOWS = 16  # windows per element when a gradient is gathered; each becomes a few nodes


def _number_type(count):
    return "i32" if count < 2**31 else "i64"


def _channels_last(x):
    return x.transpose([0, *range(2, x.rank), 1])


def _channels_first(x):
    return x.transpose([0, x.rank - 1, *range(1, x.rank - 1)])


@handles("max_pool2d_with_indices.default", "max_pool3d_with_indices.default")
def max_pool_with_indices(call, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    if not call.is_used(1):
        return max_pool(call, x, kernel, stride, padding, dilation, ceil_mode), None
    spatial = int(call.name[len("max_pool")])
    x, alone = batched(x, spatial)
    window = Window(x.shape[2:], kernel, list(stride), padding, dilation, ceil_mode)
    if math.prod(window.kernel) > _MOST_WINDOW_ELEMENTS:
        raise Rejected(f"places in windows of {math.prod(window.kernel)} elements")
    return tuple(unbatched(_channels_first(y), alone)
                 for y in _greatest(_channels_last(x), window))


def _greatest(x, window):
    """Returns each window's greatest element and its index in the image. Takes the first of equal
    elements and the last of several NaN."""
    element = _number_type(math.prod(window.sizes))
    padded = _with_pads(x, window)
    best, index = None, None
    for offset in itertools.product(*(range(size) for size in window.kernel)):
        part = _part(padded, window, offset)
        if best is None:
            best, index = part, _first_indices(x.graph, window, element).expand(part.shape)
            continue
        larger = part.compare("gt", best)
        larger = larger | part.unary("isnan") if x.is_float else larger
        best = x.graph.where(larger, part, best)
        index = x.graph.where(larger, _numbers(x.graph, window, offset, element), index)
    assert index is not None
    return best, index.cast("i64")


def _with_pads(x, window):
    """Pads with the least number on all sides. The ends get further padding, so that the elements
    at any position of all windows can be sliced (_part)."""
    low = -math.inf if x.is_float else torch.iinfo(torch_dtype(x.element)).min
    ends = [p + e + window.strides[i] for i, (p, e) in enumerate(zip(window.pads, window.extra))]
    return x.pad([0, *window.pads, 0, 0, *ends, 0], float(low))


def _part(padded, window, offset):
    """Returns the elements at one position of all windows."""
    for i, (at, out) in enumerate(zip(offset, window.outputs())):
        begin = at * window.dilations[i]
        padded = padded.slice(1 + i, begin, begin + (out - 1) * window.strides[i] + 1,
                              window.strides[i])
    return padded


def _along(graph, i, sizes, element):
    """Returns 0, 1, ... along a spatial axis, the same for all channels."""
    return graph.along(i, len(sizes) + 1, sizes[i]).cast(element)


def _begin(graph, window, i, element):
    """Returns the first position of each window on an axis. Positions in the padding before the
    image are negative."""
    numbers = _along(graph, i, window.outputs(), element)
    return numbers * window.strides[i] - window.pads[i]


def _numbers(graph, window, offset, element):
    """Returns the index of the element at one position of all windows."""
    at = [_begin(graph, window, i, element) + offset[i] * window.dilations[i]
          for i in range(len(offset))]
    return _numbered(at, window.sizes)


def _first_indices(graph, window, element):
    """Returns the index of each window's first element inside the image. This index is the result if
    no later element is greater, for example if all elements are minus infinity."""
    begins = [_begin(graph, window, i, element) for i in range(len(window.sizes))]
    inside = [begin.max(0 if dilation == 1 else _remainder(begin, dilation))
              for begin, dilation in zip(begins, window.dilations)]
    return _numbered(inside, window.sizes)


def _remainder(x, divisor):
    return x.graph.emit("mod", x, x.number(divisor))


def _numbered(at, sizes):
    """Returns the row-major index of a position. `at` has the position on each axis."""
    total = None
    for one, size in zip(at, sizes):
        total = one if total is None else total * size + one
    return total


@handles("max_pool2d_with_indices_backward.default")
def max_pool_backward(call, gradient, x, kernel, stride, padding, dilation, ceil_mode, indices):
    (gradient, alone), (indices, _) = batched(gradient, 2), batched(indices, 2)
    window = Window(x.shape[-2:], kernel, list(stride), padding, dilation, ceil_mode)
    if not x.is_float:
        raise Rejected(f"gradients of {x.element}")
    counts = [-(-window.span(i) // window.strides[i]) for i in range(2)]
    wide = widened(gradient)
    if math.prod(counts) > _MOST_WINDOWS:
        y = _spread(wide, indices, window)
    else:
        y = _channels_first(_gathered(_channels_last(wide), _channels_last(indices), window, counts))
    return unbatched(y.cast(gradient.element), alone)


def _spread(gradient, indices, window):
    """Adds each gradient to the image element at its index."""
    front, out = gradient.shape[:2], math.prod(gradient.shape[2:])
    flat = gradient.graph.full((*front, math.prod(window.sizes)), 0, gradient.element)
    indices, updates = (v.reshape((*front, out)) for v in (indices, gradient))
    return Combination("sum").scattered(flat, indices, updates, 2).reshape((*front, *window.sizes))


def _gathered(gradient, indices, window, counts):
    """Sums, for each element, the gradients of the windows whose greatest element it is. `counts`:
    for each axis, the number of windows that may contain one element. Each element is written once,
    so all axes are parallel."""
    element = _number_type(math.prod(window.sizes))
    graph = gradient.graph
    own = _numbered([_along(graph, i, window.sizes, element) for i in range(2)], window.sizes)
    indices = _with_windows_around(indices.cast(element), window, counts, -1)
    gradient = _with_windows_around(gradient, window, counts, 0)
    total = None
    for before in itertools.product(*(range(count) for count in counts)):
        index = _of_window_before(indices, window, counts, before)
        part = graph.where(index.compare("eq", own),
                           _of_window_before(gradient, window, counts, before), 0)
        total = part if total is None else total + part
    return total


def _begun(window, i):
    """Returns the number of windows on an axis that begin before the end of the image. Some of them
    may not exist, because they would extend beyond the padding."""
    return (window.sizes[i] - 1 + window.pads[i]) // window.strides[i] + 1


def _with_windows_around(values, window, counts, outside):
    """Pads with values for missing windows, so that each element is in the same number of
    windows."""
    ends = [max(0, _begun(window, i) - values.shape[1 + i]) for i in range(2)]
    return values.pad([0, *(count - 1 for count in counts), 0, 0, *ends, 0], float(outside))


def _of_window_before(values, window, counts, before):
    """Returns, for each element of the image, the value of one of its windows. On each axis, this
    window begins `before` windows earlier than the last window that begins at or before the
    element."""
    for i, (count, back) in enumerate(zip(counts, before)):
        axis, stride, pad, size = 1 + i, window.strides[i], window.pads[i], window.sizes[i]
        begin, begun = count - 1 - back, _begun(window, i)
        apart = values.slice(axis, begin, begin + begun).unsqueeze(axis + 1)
        each = apart.expand((*apart.shape[:axis + 1], stride, *apart.shape[axis + 2:]))
        values = each.reshape((*values.shape[:axis], begun * stride, *values.shape[axis + 1:]))
        values = values.slice(axis, pad, pad + size)
    return values
