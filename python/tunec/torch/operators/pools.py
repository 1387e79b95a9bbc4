"""Imports pools with windows of a given size, and adaptive pools, which have a given number of
windows."""
import math

from ..errors import Rejected
from ..handler_table import handles
from .promotion import widened
from .windows import sum_windows, transposed


def _each(values, count, default):
    if values is None or values == []:
        return list(default)
    values = [values] if isinstance(values, int) else list(values)
    return values * count if len(values) == 1 else values


class Window:
    """The windows of a pool: each attribute has one number per spatial axis. `sizes`: sizes of the
    image. `extra`: padding that ceil_mode adds at the ends."""

    def __init__(self, sizes, kernel, stride, padding, dilation=1, ceil_mode=False):
        count = len(sizes)
        self.sizes = sizes
        self.kernel = _each(kernel, count, [])
        self.strides = _each(stride, count, self.kernel)
        self.pads = _each(padding, count, [0] * count)
        self.dilations = _each(dilation, count, [1] * count)
        self.extra = [self._missing(i) if ceil_mode else 0 for i in range(count)]

    def span(self, i):
        return self.dilations[i] * (self.kernel[i] - 1) + 1

    def _missing(self, i):
        """Returns the padding for the last, partial window; 0 if it would begin after the input."""
        padded = self.sizes[i] + 2 * self.pads[i]
        last = -(-(padded - self.span(i)) // self.strides[i])
        if last * self.strides[i] >= self.sizes[i] + self.pads[i]:
            last -= 1
        return max(0, last * self.strides[i] + self.span(i) - padded)

    def outputs(self):
        return [(self.sizes[i] + 2 * self.pads[i] + self.extra[i] - self.span(i)) //
                self.strides[i] + 1 for i in range(len(self.sizes))]

    def attributes(self, pads=None):
        begins = self.pads if pads is None else pads
        ends = [p + e for p, e in zip(begins, self.extra)]
        return {"kernel": self.kernel, "strides": self.strides, "pads": [*begins, *ends],
                "dilations": self.dilations}


def batched(x, spatial):
    """Adds a batch axis if it is missing. Also returns True if it was missing."""
    return (x.unsqueeze(0), True) if x.rank == spatial + 1 else (x, False)


def unbatched(y, was_missing):
    return y.reshape(y.shape[1:]) if was_missing else y


def _axes_in(name):
    return int(next(c for c in name if c.isdigit()))


@handles("max_pool1d.default", "max_pool2d.default", "max_pool3d.default")
def max_pool(call, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
    spatial = _axes_in(call.name)
    x, alone = batched(x, spatial)
    window = Window(x.shape[2:], kernel, list(stride), padding, dilation, ceil_mode)
    return unbatched(call.graph.emit("max_pool", x, **window.attributes()), alone)


@handles("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default")
def avg_pool(call, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
             divisor_override=None):
    spatial = _axes_in(call.name)
    x, alone = batched(x, spatial)
    window = Window(x.shape[2:], kernel, list(stride), padding, 1, ceil_mode)
    if not x.is_float:
        raise Rejected(f"averages of {x.element}")
    if divisor_override is not None:
        y = _average(call.graph, x, window, "all")
        y = y * (math.prod(window.kernel) / divisor_override)
    else:
        y = _average(call.graph, x, window, "given" if count_include_pad else "none")
    return unbatched(y, alone)


def _average(graph, x, window, counted):
    """Averages windows. `counted` is the padding that counts in an average: "all" padding, "given"
    padding but not that of ceil_mode, or "none"."""
    pads = window.pads
    partial = any(window.extra)
    if counted == "given" and partial:
        x = x.pad([0, 0, *pads, 0, 0, *pads])
        return graph.emit("average_pool", x, **window.attributes([0] * len(pads)),
                          count_include_pad=0)
    include = int(counted != "none" and (any(pads) or partial))
    return graph.emit("average_pool", x, **window.attributes(), count_include_pad=include)


@handles("_adaptive_avg_pool2d.default", "_adaptive_avg_pool3d.default",
         "adaptive_avg_pool1d.default", "adaptive_avg_pool2d.default",
         "adaptive_avg_pool3d.default")
def adaptive_avg_pool(call, x, output_size):
    spatial = _axes_in(call.name)
    x, alone = batched(x, spatial)
    sizes = x.shape[2:]
    output_sizes = [size if out is None else out
              for size, out in zip(sizes, _each(output_size, spatial, []))]
    if all(out == 1 for out in output_sizes):
        return unbatched(x.reduce("mean", range(2, x.rank), True), alone)
    if all(out > 0 and size % out == 0 for size, out in zip(sizes, output_sizes)):
        kernel = [size // out for size, out in zip(sizes, output_sizes)]
        window = Window(sizes, kernel, kernel, 0)
        return unbatched(_average(call.graph, x, window, "none"), alone)
    windows = [_adaptive_windows(size, out) for size, out in zip(sizes, output_sizes)]
    return unbatched(_averaged(x, windows), alone)


def _adaptive_windows(size, out):
    """Returns, for each window, its elements and their weights in the average."""
    windows = []
    for j in range(out):
        begin, end = j * size // out, -(-(j + 1) * size // out)
        windows.append([(i, 1 / (end - begin)) for i in range(begin, end)])
    return windows


def _averaged(x, windows):
    """Replaces each spatial axis by weighted sums of its windows."""
    if not x.is_float:
        raise Rejected(f"averages of {x.element}")
    element, y = x.element, widened(x)
    for i, of_axis in enumerate(windows):
        y = sum_windows(y, 2 + i, of_axis)
    return y.cast(element)


@handles("_adaptive_avg_pool2d_backward.default")
def adaptive_avg_pool_backward(call, gradient, x):
    gradient, alone = batched(gradient, 2)
    windows = [transposed(_adaptive_windows(size, gradient.shape[2 + i]), size)
               for i, size in enumerate(x.shape[-2:])]
    return unbatched(_averaged(gradient, windows), alone)


def _average_windows(window, i, counted):
    """Returns the windows of one axis, with the weights that elements have in _average."""
    size, windows = window.sizes[i], []
    for j in range(window.outputs()[i]):
        begin = j * window.strides[i] - window.pads[i]
        end = min(begin + window.kernel[i], size + window.pads[i])
        inside = range(max(begin, 0), min(end, size))
        count = {"all": window.kernel[i], "given": end - begin, "none": len(inside)}[counted]
        windows.append([(at, 1 / count) for at in inside])
    return windows


@handles("avg_pool2d_backward.default")
def avg_pool_backward(call, gradient, x, kernel, stride, padding, ceil_mode, count_include_pad,
                      divisor_override):
    gradient, alone = batched(gradient, 2)
    window = Window(x.shape[-2:], kernel, list(stride), padding, 1, ceil_mode)
    counted = "given" if count_include_pad else "none"
    if divisor_override is not None:
        counted = "all"
        gradient = gradient * (math.prod(window.kernel) / divisor_override)
    windows = [transposed(_average_windows(window, i, counted), window.sizes[i])
               for i in range(2)]
    return unbatched(_averaged(gradient, windows), alone)
