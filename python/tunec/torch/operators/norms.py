"""Imports normalisations and softmax. Means and deviations that torch also returns are computed by
separate operators, which are removed if unused."""
import torch

from ..element_types import torch_dtype
from ..errors import Rejected
from ..handler_table import handles
from .promotion import combined, widened, widest


def _least(epsilon):
    """Returns an epsilon as an attribute of the compiler's normalisations. Rejects negative ones."""
    if not epsilon >= 0:
        raise Rejected("a negative epsilon")
    return float(epsilon)


def _moments(x, axes, epsilon):
    """Returns mean and reciprocal deviation in float32 or wider, with the reduced axes retained."""
    wide = widened(x)
    mean = wide.reduce("mean", axes, True)
    centered = wide - mean
    spread = (centered * centered).reduce("mean", axes, True)
    return mean, (spread + epsilon).unary("rsqrt")


def _scale_of(x, weight, shape):
    """Returns the weight, or ones if there is no weight."""
    if weight is None:
        return x.graph.full(shape, 1, x.element)
    return weight.cast(x.element)


@handles("layer_norm.default")
def layer_norm(call, x, normalized_shape, weight=None, bias=None, epsilon=1e-5, *_):
    axis = x.rank - len(normalized_shape)
    wide, weight, bias = combined(x, weight, bias)
    scale = _scale_of(wide, weight, normalized_shape)
    operands = [wide, scale] if bias is None else [wide, scale, bias]
    y = call.graph.emit("layer_norm", *operands, axis=axis, epsilon=_least(epsilon))
    return y.cast(x.element)


@handles("native_layer_norm.default")
def native_layer_norm(call, x, normalized_shape, weight, bias, epsilon):
    y = layer_norm(call, x, normalized_shape, weight, bias, epsilon)
    axes = range(x.rank - len(normalized_shape), x.rank)
    moments = _moments(x, axes, epsilon)
    return (y, *(m.cast(call.element(1)) for m in moments))


@handles("rms_norm.default", "_fused_rms_norm.default")
def rms_norm(call, x, normalized_shape, weight=None, epsilon=None):
    axes = range(x.rank - len(normalized_shape), x.rank)
    if epsilon is None:  # torch's default is the epsilon of the type
        epsilon = torch.finfo(torch_dtype(widened(x).element)).eps
    given, weight = combined(x, weight)
    scale = _scale_of(given, weight, normalized_shape)
    y = call.graph.emit("rms_norm", given, scale, axis=axes[0], epsilon=_least(epsilon))
    y = y.cast(call.element())
    if call.name == "rms_norm":
        return y
    wide = widened(x)
    inverse = ((wide * wide).reduce("mean", axes, True) + epsilon).unary("rsqrt")
    return y, inverse.cast(call.element(1))


def _channel_operand(x, value, default):
    if value is None:
        return x.graph.full((x.shape[1],), default, x.element)
    return value.cast(widest(x, value))


def _by_given_moments(call, x, weight, bias, mean, variance, epsilon):
    return call.graph.emit("batch_norm", x, _channel_operand(x, weight, 1),
                           _channel_operand(x, bias, 0), _channel_operand(x, mean, 0),
                           _channel_operand(x, variance, 1), epsilon=_least(epsilon))


@handles("_native_batch_norm_legit_no_training.default")
def batch_norm_inference(call, x, weight, bias, mean, variance, momentum, epsilon):
    y = _by_given_moments(call, x, weight, bias, mean, variance, epsilon)
    # On a GPU, torch returns mean and deviation for an image here; on the CPU, tensors without
    # elements.
    if call.shape(1) != (0,) and (call.is_used(1) or call.is_used(2)):
        raise Rejected("the moments that a normalisation by given ones returns")
    nothing = call.graph.full(call.shape(1), 0, call.element(1))
    return y, nothing, nothing


@handles("batch_norm.default")
def batch_norm(call, x, weight, bias, mean, variance, training, momentum, epsilon, *_):
    if training and mean is not None:
        raise Rejected("running moments that change in place")
    if training or mean is None:
        return _trained(x, weight, bias, epsilon)[0]
    return _by_given_moments(call, x, weight, bias, mean, variance, epsilon)


@handles("native_batch_norm.default", "_native_batch_norm_legit.default",
         "_native_batch_norm_legit_functional.default")
def native_batch_norm(call, x, weight, bias, mean, variance, training, momentum, epsilon):
    """Imports batch normalisation. In training, the functional form also returns the new running
    moments. In the other forms, running moments would change in place, so they are rejected."""
    if not training:
        results = batch_norm_inference(call, x, weight, bias, mean, variance, momentum, epsilon)
        if not call.name.endswith("functional"):
            return results
        return (*results, mean.cast(call.element(3)), variance.cast(call.element(4)))
    y, batch_mean, inverse, spread, count = _trained(x, weight, bias, epsilon)
    results = (y, batch_mean.cast(call.element(1)), inverse.cast(call.element(2)))
    if not call.name.endswith("functional"):
        if mean is not None:
            raise Rejected("running moments that change in place")
        return results
    unbiased = spread * (count / max(count - 1, 1))
    # torch's new moments are float32 even if the old ones are bfloat16, so they are cast.
    return (*results, _moved(mean, batch_mean, momentum).cast(call.element(3)),
            _moved(variance, unbiased, momentum).cast(call.element(4)))


def _moved(running, now, momentum):
    return now * momentum + widened(running) * (1 - momentum)


@handles("_native_batch_norm_legit.no_stats")
def batch_norm_without_moments(call, x, weight, bias, training, momentum, epsilon):
    y, mean, inverse, *_ = _trained(x, weight, bias, epsilon)
    return y, mean.cast(call.element(1)), inverse.cast(call.element(2))


def _trained(x, weight, bias, epsilon):
    """Normalizes by the moments of the batch. Returns the result, mean, reciprocal deviation,
    variance, and the number of elements per channel."""
    wide = widened(x)
    axes = [axis for axis in range(x.rank) if axis != 1]
    channels = (x.shape[1], *[1] * (x.rank - 2))
    mean = wide.reduce("mean", axes, True)
    centered = wide - mean
    spread = (centered * centered).reduce("mean", axes, True)
    inverse = (spread + epsilon).unary("rsqrt")
    y = centered * inverse
    if weight is not None:
        y = y * weight.cast(y.element).reshape(channels)
    if bias is not None:
        y = y + bias.cast(y.element).reshape(channels)
    flat = (x.shape[1],)
    return (y.cast(x.element), mean.reshape(flat), inverse.reshape(flat), spread.reshape(flat),
            x.count // max(x.shape[1], 1))


def _grouped(call, x, groups, weight, bias, epsilon):
    wide, weight, bias = combined(x, weight, bias)
    y = call.graph.emit("group_norm", wide, _channel_operand(wide, weight, 1),
                        _channel_operand(wide, bias, 0), groups=groups, epsilon=_least(epsilon))
    return y.cast(x.element)


@handles("group_norm.default")
def group_norm(call, x, groups, weight=None, bias=None, epsilon=1e-5, *_):
    return _grouped(call, x, groups, weight, bias, epsilon)


@handles("native_group_norm.default")
def native_group_norm(call, x, weight, bias, batch, channels, inner, groups, epsilon):
    y = _grouped(call, x, groups, weight, bias, epsilon)
    apart = x.reshape((batch, groups, channels // groups * inner))
    mean, inverse = (m.reshape((batch, groups)) for m in _moments(apart, [2], epsilon))
    return y, mean.cast(call.element(1)), inverse.cast(call.element(2))


@handles("_softmax.default", "_log_softmax.default", "softmax.int", "log_softmax.int")
def softmax(call, x, dim, *_):
    """Imports softmax. With `half_to_float` or `dtype`, the result may have another type than x."""
    op = "log_softmax" if "log" in call.name else "softmax"
    x = x.cast(call.element())
    if x.rank == 0:
        return call.graph.number(0 if op == "log_softmax" else 1, x.element)
    return x.unary(op, axis=dim % x.rank)


@handles("_safe_softmax.default")
def safe_softmax(call, x, dim, dtype=None):
    """Imports softmax that is 0 if every score of a row is minus infinity."""
    x = x.cast(call.element())
    axis = dim % x.rank
    empty = x.reduce("max", [axis], True).compare("eq", float("-inf"))
    return call.graph.where(empty, 0, x.unary("softmax", axis=axis))
