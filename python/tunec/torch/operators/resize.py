"""Images of other sizes."""
from ..errors import Refused
from ..handler_table import handles


def _target(x, size, factors):
    """The sizes of all axes, and the scales by which coordinates go. A factor that torch was given
    is that scale; else it is the quotient of the sizes."""
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
        raise Refused("images without elements")
    if mode != "nearest" and not x.is_float:
        raise Refused(f"{mode} interpolation of {x.element}")
    sizes, scales = _target(x, size, factors)
    attributes = {"shape": sizes, "mode": mode}
    if mode == "nearest":
        attributes |= {"coordinate": "asymmetric", "nearest_mode": "floor", "scales": scales}
    elif align_corners:
        # Corners are those of the sizes, whatever the factor was.
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
    """`scale_factors` of the overload vec is a list, that of the others numbers."""
    rest = [r for r in rest]
    if len(rest) == 1 and (rest[0] is None or isinstance(rest[0], (list, tuple))):
        return rest[0]
    return rest if any(r is not None for r in rest) else None


@handles(*(f"{name}.{kind}" for name in _NEAREST for kind in ("vec", "default")))
def nearest(call, x, size, *factors):
    return _resized(call, x, size, _factors(factors), "nearest", False)


@handles(*(f"{name}.{kind}" for name in _EXACT for kind in ("vec", "default")))
def nearest_exact(call, x, size, *factors):
    """The pixel whose centre is nearest; of two the upper one."""
    sizes, scales = _target(x, size or call.shape()[2:], _factors(factors))
    return call.graph.emit("resize", x, shape=sizes, scales=scales, mode="nearest",
                           coordinate="half_pixel", nearest_mode="round_prefer_ceil")


@handles(*(f"{name}.{kind}" for name in _LINEAR for kind in ("vec", "default")))
def linear(call, x, size, align_corners, *factors):
    return _resized(call, x, size, _factors(factors), _LINEAR[call.name], align_corners)
