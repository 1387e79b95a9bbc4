"""Pools: windows that slide, and windows of a given number."""
import math

import torch

from ..element_types import torch_dtype
from ..errors import Refused
from ..handler_table import handles
from .promotion import widened


def _each(values, count, default):
    if values is None or values == []:
        return list(default)
    values = [values] if isinstance(values, int) else list(values)
    return values * count if len(values) == 1 else values


class Window:
    """Sizes, a number for each spatial axis. `extra`: what ceil_mode adds at the ends."""

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
        """So that the last, partial window exists, unless it would begin behind the input."""
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
    """With an axis for batches, and whether it was missing."""
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
        raise Refused(f"averages of {x.element}")
    if divisor_override is not None:
        y = _average(call.graph, x, window, "all")
        y = y * (math.prod(window.kernel) / divisor_override)
    else:
        y = _average(call.graph, x, window, "given" if count_include_pad else "none")
    return unbatched(y, alone)


def _average(graph, x, window, counted):
    """`counted`: which pads count: all, those that are given (not those of ceil_mode), or none."""
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
    wanted = [size if out is None else out
              for size, out in zip(sizes, _each(output_size, spatial, []))]
    if all(out == 1 for out in wanted):
        return unbatched(x.reduce("mean", range(2, x.rank), True), alone)
    if all(out > 0 and size % out == 0 for size, out in zip(sizes, wanted)):
        kernel = [size // out for size, out in zip(sizes, wanted)]
        window = Window(sizes, kernel, kernel, 0)
        return unbatched(_average(call.graph, x, window, "none"), alone)
    return unbatched(_by_matrices(x, wanted), alone)


def _adaptive_weights(size, out):
    """[out, size]: what each element counts in each window's average."""
    weights = torch.zeros(out, size, dtype=torch.float64)
    for j in range(out):
        begin, end = j * size // out, -(-(j + 1) * size // out)
        weights[j, begin:end] = 1 / (end - begin)
    return weights


def _through(x, matrices):
    """Each spatial axis through its matrix."""
    if not x.is_float:
        raise Refused(f"averages of {x.element}")
    element, y = x.element, widened(x)
    for i, matrix in enumerate(matrices):
        y = through_matrix(y, 2 + i, matrix.to(torch_dtype(y.element)))
    return y.cast(element)


def _by_matrices(x, wanted):
    """Windows of different sizes: each axis through a matrix of their weights."""
    return _through(x, [_adaptive_weights(x.shape[2 + i], out) for i, out in enumerate(wanted)])


@handles("_adaptive_avg_pool2d_backward.default")
def adaptive_avg_pool_backward(call, gradient, x):
    gradient, alone = batched(gradient, 2)
    sizes = x.shape[-2:]
    matrices = [_adaptive_weights(size, gradient.shape[2 + i]).T for i, size in enumerate(sizes)]
    return unbatched(_through(gradient, matrices), alone)


def _average_weights(window, i, counted):
    """[out, size] of one axis, as in _average."""
    size, out = window.sizes[i], window.outputs()[i]
    weights = torch.zeros(out, size, dtype=torch.float64)
    for j in range(out):
        begin = j * window.strides[i] - window.pads[i]
        end = min(begin + window.kernel[i], size + window.pads[i])
        inside = range(max(begin, 0), min(end, size))
        count = {"all": window.kernel[i], "given": end - begin, "none": len(inside)}[counted]
        weights[j, inside.start:inside.stop] = 1 / count
    return weights


@handles("avg_pool2d_backward.default")
def avg_pool_backward(call, gradient, x, kernel, stride, padding, ceil_mode, count_include_pad,
                      divisor_override):
    gradient, alone = batched(gradient, 2)
    window = Window(x.shape[-2:], kernel, list(stride), padding, 1, ceil_mode)
    counted = "given" if count_include_pad else "none"
    if divisor_override is not None:
        counted = "all"
        gradient = gradient * (math.prod(window.kernel) / divisor_override)
    matrices = [_average_weights(window, i, counted).T for i in range(2)]
    return unbatched(_through(gradient, matrices), alone)


def through_matrix(x, axis, matrix):
    """An axis through a matrix [to, from] of constants."""
    last = x.rank - 1
    weights = x.graph.constant(matrix, "matrix")
    y = x.graph.emit("matmul", x.swap(axis, last), weights, transpose_b=1)
    return y.swap(axis, last)
