"""Imports convolutions and their gradients."""
from ..errors import Rejected
from ..handler_table import handles


def _each(values, count):
    """Returns one number per spatial axis."""
    values = [values] if isinstance(values, int) else list(values)
    return values * count if len(values) == 1 else values


@handles("convolution.default", "_convolution.default")
def convolution(call, x, weight, bias, stride, padding, dilation, transposed, output_padding,
                groups, *_):
    count = weight.rank - 2
    if count not in (1, 2, 3):
        raise Rejected(f"{count} spatial axes, expected 1 to 3")
    if min(x.count, weight.count) == 0:
        raise Rejected("operands without elements")
    operands = [x, weight] if bias is None else [x, weight, bias]
    pads = _each(padding, count)
    attributes = {"strides": _each(stride, count), "pads": pads * 2,
                  "dilations": _each(dilation, count), "group": groups}
    if not transposed:
        return call.graph.emit("conv", *operands, **attributes)
    attributes["output_padding"] = _each(output_padding, count)
    return call.graph.emit("conv_transpose", *operands, **attributes)


def _unbatched(call, x, weight, *rest):
    """Convolves an image without a batch axis as a batch of one."""
    if x.rank == weight.rank:
        return convolution(call, x, weight, *rest)
    y = convolution(call, x.unsqueeze(0), weight, *rest)
    return y.reshape(y.shape[1:])


@handles("conv1d.default", "conv2d.default", "conv3d.default")
def conv(call, x, weight, bias, stride, padding, dilation, groups):
    return _unbatched(call, x, weight, bias, stride, padding, dilation, False, [0], groups)


@handles("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input")
def conv_transpose(call, x, weight, bias, stride, padding, output_padding, groups, dilation):
    return _unbatched(call, x, weight, bias, stride, padding, dilation, True, output_padding,
                      groups)


def _gradient_of_input(gradient, x, weight, window):
    """Returns the gradient of x, by a transposed convolution."""
    strides, pads, dilations, groups = window
    extra = [size - ((out - 1) * s - 2 * p + d * (k - 1) + 1) for size, out, k, s, p, d in
             zip(x.shape[2:], gradient.shape[2:], weight.shape[2:], strides, pads, dilations)]
    return x.graph.emit("conv_transpose", gradient, weight, strides=strides, pads=pads * 2,
                        dilations=dilations, group=groups, output_padding=extra)


def _gradient_of_weight(x, gradient, kernel, window):
    """Convolves x with the gradient as filter; the batch axis of both has the role of channels.
    Strides and dilations are exchanged. Elements at the ends of x that no window reads are
    omitted."""
    strides, pads, dilations, groups = window
    axes = range(len(kernel))
    read = [(gradient.shape[2 + i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - pads[i]
            for i in axes]  # elements read, from the first element on
    if min(read) <= 0:  # only padding is read
        return x.graph.full((gradient.shape[1], x.shape[1] // groups, *kernel), 0, x.element)
    ends = [max(0, read[i] - x.shape[2 + i]) for i in axes]
    for i in axes:
        x = x.slice(2 + i, 0, min(x.shape[2 + i], read[i]))
    batch, channels, *sizes = x.shape
    inner = channels // groups
    apart = x.reshape((batch, groups, inner, *sizes))
    turned = apart.transpose([2, 1, 0, *range(3, apart.rank)]).reshape(
        (inner, groups * batch, *sizes))
    y = x.graph.emit("conv", turned, gradient.swap(0, 1), strides=dilations, pads=[*pads, *ends],
                     dilations=strides, group=groups)
    return y.swap(0, 1)


@handles("convolution_backward.default")
def convolution_backward(call, gradient, x, weight, bias_sizes, stride, padding, dilation,
                         transposed, output_padding, groups, output_mask):
    count = weight.rank - 2
    if min(x.count, weight.count, gradient.count) == 0 or count not in (1, 2, 3):
        raise Rejected("operands without elements, or of other than 1 to 3 spatial axes")
    window = (_each(stride, count), _each(padding, count), _each(dilation, count), groups)
    strides, pads, dilations, _ = window
    of_input = of_weight = of_bias = None
    if output_mask[0] and transposed:
        of_input = call.graph.emit("conv", gradient, weight, strides=strides, pads=pads * 2,
                                   dilations=dilations, group=groups)
    elif output_mask[0]:
        of_input = _gradient_of_input(gradient, x, weight, window)
    if output_mask[1]:
        pair = (gradient, x) if transposed else (x, gradient)
        of_weight = _gradient_of_weight(*pair, weight.shape[2:], window)
    if output_mask[2]:
        of_bias = gradient.reduce("sum", [0, *range(2, gradient.rank)])
    return of_input, of_weight, of_bias
