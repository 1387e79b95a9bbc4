"""Convolutions."""
from ..errors import Refused
from ..handler_table import handles


def _each(values, count):
    """One number for each spatial axis."""
    values = [values] if isinstance(values, int) else list(values)
    return values * count if len(values) == 1 else values


@handles("convolution.default", "_convolution.default")
def convolution(call, x, weight, bias, stride, padding, dilation, transposed, output_padding,
                groups, *_):
    count = weight.rank - 2
    if count not in (1, 2, 3):
        raise Refused(f"{count} spatial axes, wanted 1 to 3")
    if min(x.count, weight.count) == 0:
        raise Refused("operands without elements")
    operands = [x, weight] if bias is None else [x, weight, bias]
    pads = _each(padding, count)
    attributes = {"strides": _each(stride, count), "pads": pads * 2,
                  "dilations": _each(dilation, count), "group": groups}
    if not transposed:
        return call.graph.emit("conv", *operands, **attributes)
    attributes["output_padding"] = _each(output_padding, count)
    return call.graph.emit("conv_transpose", *operands, **attributes)
