"""Imports resizing of images."""
import math

import torch

from ..errors import Rejected
from ..handler_table import handles


def _target(x, size, factors):
    """Returns the sizes of all axes and the scales of coordinates. A scale is the given factor,
    else the quotient of the sizes."""
    sizes = [*x.shape[:2], *size]
    scales = [1.0, 1.0]
    for i, (now, then) in enumerate(zip(x.shape[2:], size)):
        factor = factors[i] if factors else None
        scales.append(float(factor) if factor else then / now)
    return sizes, scales


def _resized(call, x, size, factors, mode, align_corners):
    if size is None:
        size = call.shape()[2:]
    if x.count == 0 or 0 in size:
        raise Rejected("images without elements")
    if not x.is_float:
        raise Rejected(f"{mode} interpolation of {x.element}")
    sizes, scales = _target(x, size, factors)
    attributes = {"shape": sizes, "mode": mode}
    if align_corners:
        # With aligned corners, scales depend on the sizes only, and the given factors are ignored.
        attributes |= {"coordinate": "align_corners",
                       "scales": [then / now for now, then in zip(x.shape, sizes)]}
    else:
        attributes |= {"coordinate": "half_pixel", "scales": scales}
    return call.graph.emit("resize", x, **attributes)


_AXES = ("1d", "2d", "3d")
_NEAREST = tuple(f"upsample_nearest{axes}" for axes in _AXES)
_EXACT = tuple(f"_upsample_nearest_exact{axes}" for axes in _AXES)
_LINEAR = {"upsample_linear1d": "linear", "upsample_bilinear2d": "linear",
           "upsample_trilinear3d": "linear", "upsample_bicubic2d": "cubic"}


def _factors(rest):
    """Returns the factors of an overload: `vec` has a list, other overloads have numbers."""
    rest = [r for r in rest]
    if len(rest) == 1 and (rest[0] is None or isinstance(rest[0], (list, tuple))):
        return rest[0]
    return rest if any(r is not None for r in rest) else None


def _fraction(scale):
    """Returns the fraction that the graph's resize uses for a scale, as
    graph/ops/scale_fraction.cc computes it."""
    before, now = (1, 0), (math.floor(scale), 1)
    rest = scale - math.floor(scale)
    while abs(now[0] / now[1] - scale) > 1e-7 * scale and rest > 1e-12:
        inverse = 1 / rest
        whole = math.floor(inverse)
        before, now = now, tuple(whole * n + b for n, b in zip(now, before))
        rest = inverse - whole
    return now


class _NearestAxis:
    """The source element of each result element along one axis."""

    def __init__(self, now, then, factor, is_exact):
        self.now, self.then = now, then
        self.factor = factor if factor and factor > 0 else None
        self.is_exact = is_exact  # computes with the centres of elements

    def of_torch(self, copies):
        """Returns the elements that torch reads, computed in float32. `copies`: torch uses a kernel
        that ignores the factor of an axis if the axis keeps or doubles its size."""
        number = torch.arange(self.then)
        if copies and self.then in (self.now, 2 * self.now):
            return number // (self.then // self.now)
        step = (torch.tensor(1 / self.factor, dtype=torch.float64).float() if self.factor else
                torch.tensor(float(self.now)) / torch.tensor(float(self.then)))
        at = number.float() + 0.5 if self.is_exact else number.float()
        return (at * step).floor().long().clamp(max=self.now - 1)

    def of_graph(self):
        p, q = _fraction(self.scale())
        number = torch.arange(self.then)
        at = (2 * number + 1) * q // (2 * p) if self.is_exact else number * q // p
        return at.clamp(max=self.now - 1)

    def scale(self):
        return float(self.factor) if self.factor else self.then / self.now


def _copies_axes(call):
    """Tests if torch uses the kernel that copies axes of kept or doubled size. On the CPU, torch
    does so for small 2-D images, and for channels-last images with more than 3 channels."""
    result = call.result
    if not call.name.startswith("upsample_nearest") or result.device.type == "cuda":
        return False
    if call.name == "upsample_nearest2d":
        is_last = result.is_contiguous(memory_format=torch.channels_last)
        return (is_last and call.shape()[1] > 3) or sum(call.shape()[2:]) <= 128
    if call.name == "upsample_nearest3d":
        return (result.is_contiguous(memory_format=torch.channels_last_3d) and
                call.shape()[1] > 3)
    return False


def _nearest(call, x, size, factors):
    """Resizes each axis by the graph's resize if it reads the same elements as torch, else by a
    table of indices."""
    is_exact = "exact" in call.name
    size = size or call.shape()[2:]
    if x.count == 0 or 0 in size:
        raise Rejected("images without elements")
    sizes, scales = list(x.shape), [1.0] * x.rank
    for i, then in enumerate(size):
        now = x.shape[2 + i]
        axis = _NearestAxis(now, then, factors[i] if factors else None, is_exact)
        indices = axis.of_torch(_copies_axes(call))
        if then == now and torch.equal(indices, torch.arange(then)):
            continue
        if torch.equal(indices, axis.of_graph()):
            sizes[2 + i], scales[2 + i] = then, axis.scale()
        else:
            x = x.gather(call.graph.constant(indices, "places"), 2 + i)
            sizes[2 + i] = then
    if list(x.shape) == sizes and all(scale == 1 for scale in scales):
        return x
    manner = ({"coordinate": "half_pixel", "nearest_mode": "round_prefer_ceil"} if is_exact else
              {"coordinate": "asymmetric", "nearest_mode": "floor"})
    return call.graph.emit("resize", x, shape=sizes, scales=scales, mode="nearest", **manner)


@handles(*(f"{name}.{kind}" for name in (*_NEAREST, *_EXACT) for kind in ("vec", "default")))
def nearest(call, x, size, *factors):
    return _nearest(call, x, size, _factors(factors))


@handles(*(f"{name}.{kind}" for name in _LINEAR for kind in ("vec", "default")))
def linear(call, x, size, align_corners, *factors):
    return _resized(call, x, size, _factors(factors), _LINEAR[call.name], align_corners)
