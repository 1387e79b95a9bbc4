"""Generators of random convolutions, pools, resizes and pads. They draw no case for which ONNX
Runtime is wrong or ONNX leaves the result undefined."""
import numpy as np

from case import Case, node

PADDINGS = ("SAME_LOWER", "SAME_UPPER", "VALID")


def conv(chance):
    rank, group = chance.of(1, 2, 3), chance.of(1, 1, 2, 3, 4)
    channels, filters = group * chance.of(1, 2, 5), group * chance.of(1, 3, 4)
    kernel = chance.sizes(rank, 1, 5)
    attributes = {"group": group, "kernel_shape": kernel, "strides": [chance.of(1, 1, 2, 3) for _ in range(rank)],
                  "dilations": [chance.of(1, 1, 2) for _ in range(rank)]}
    if chance.one_in(3):
        attributes["auto_pad"] = chance.of(*PADDINGS)
    else:
        attributes["pads"] = chance.sizes(2 * rank, 0, 4)
    weights = {"w": chance.array(filters, channels // group, *kernel), "b": chance.array(filters)}
    x = chance.array(chance.of(1, 2), channels, *chance.sizes(rank, 7, 14))
    return Case([node("Conv", chance.of("x w", "x w b"), **attributes)], {"x": x}, weights)


def conv_transpose(chance):
    rank, group = chance.of(1, 2, 2, 3), chance.of(1, 1, 2, 3)
    channels, filters = group * chance.of(1, 2, 4), chance.of(1, 3, 4)
    sizes, kernel = chance.sizes(rank, 3, 8), chance.sizes(rank, 1, 5)
    strides = [chance.of(1, 2, 3) for _ in range(rank)]
    attributes = {"group": group, "kernel_shape": kernel, "strides": strides,
                  "dilations": [chance.of(1, 1, 2) for _ in range(rank)]}
    how = chance.below(3)
    # ONNX Runtime makes a shorter result than the standard where a kernel is shorter than its stride.
    if how == 0 and all(k >= s for k, s in zip(kernel, strides)):
        attributes["auto_pad"] = chance.of(*PADDINGS)
    elif how == 1:
        attributes["output_shape"] = [(size - 1) * stride + chance.within(1, extent + 1)
                                      for size, stride, extent in zip(sizes, strides, kernel)]
    else:
        attributes["pads"] = chance.sizes(2 * rank, 0, 2)
    if how != 1 and chance.below(2):
        attributes["output_padding"] = [chance.below(stride) for stride in strides]
    return Case([node("ConvTranspose", "x w", **attributes)], {"x": chance.array(1, channels, *sizes)},
                {"w": chance.array(channels, filters, *kernel)})


def pool(chance):
    rank, operator = chance.of(1, 2, 2, 3), chance.of("MaxPool", "AveragePool", "AveragePool", "LpPool")
    kernel, strides = chance.sizes(rank, 1, 5), chance.sizes(rank, 1, 4)
    attributes = {"kernel_shape": kernel, "strides": strides, "ceil_mode": chance.below(2),
                  "dilations": [chance.of(1, 1, 2) for _ in range(rank)]}
    if operator == "AveragePool":
        attributes["count_include_pad"] = chance.below(2)
    if operator == "LpPool":
        attributes["p"] = chance.of(1, 2)
    # ONNX Runtime fails where a kernel is shorter than its stride and the pads are automatic.
    if chance.one_in(3) and all(k >= s for k, s in zip(kernel, strides)):
        attributes["auto_pad"], attributes["dilations"] = chance.of(*PADDINGS), [1] * rank
    else:
        attributes["pads"] = [chance.below(extent) for extent in kernel * 2]
    x = chance.array(1, 3, *chance.sizes(rank, 7, 12))
    if chance.one_in(4):  # ONNX Runtime's maxima drop some NaN, and take -inf for the least number
        x.flat[chance.below(x.size)] = np.inf if operator == "MaxPool" else chance.of(np.inf, -np.inf, np.nan)
    return Case([node(operator, "x", **attributes)], {"x": x}, opset=20)


def _has_uncertain_tie(size, new_size, scale, attributes):
    """Returns True if a nearest neighbour depends on how a peer rounds a quotient. This is possible
    at ties, unless the scale is a multiple of 1/8."""
    if attributes["mode"] != "nearest" or float(scale * 8).is_integer():
        return False
    half = 0.5 if attributes["coordinate_transformation_mode"] == "half_pixel" else 0
    tie = 0.5 if attributes["nearest_mode"].startswith("round") else 0
    positions = (np.arange(1 if half == 0 else 0, new_size) + half) / scale - half - tie
    return bool(np.any(np.abs(positions - np.round(positions)) < 1e-4 * size))


def resize(chance):
    rank, mode = chance.of(1, 2, 2), chance.of("nearest", "linear", "cubic")
    coordinates = chance.of("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = chance.of("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        attributes["coordinate_transformation_mode"] = chance.of("asymmetric", "half_pixel")
    else:
        attributes["antialias"] = int(chance.one_in(3))
    if mode == "cubic":  # for one axis, only the reference evaluator has cubic mode, with sizes in double
        rank = 2
        attributes["cubic_coeff_a"], attributes["exclude_outside"] = chance.of(-0.5, -0.75), chance.below(2)
    x = chance.array(1, 2, *chance.sizes(rank, 2, 12))
    if chance.below(2):
        sizes = np.array([1, 2, *chance.sizes(rank, 1, 20)], np.int64)
        for axis, size in enumerate(x.shape):
            if _has_uncertain_tie(size, sizes[axis], sizes[axis] / size, attributes):
                sizes[axis] = 2 * size
        return Case([node("Resize", "x - - s", **attributes)], {"x": x}, {"s": sizes}, opset=20)
    # For align_corners, the reference evaluator uses the size before it is rounded.
    if coordinates == "align_corners":
        attributes["coordinate_transformation_mode"] = "half_pixel"
    scales = np.array([1, 1, *(chance.of(0.5, 0.6, 0.7, 1.3, 1.5, 2, 2.3, 3) for _ in range(rank))], np.float32)
    # ONNX Runtime copies an axis whose size does not change, even if its scale is not 1.
    new_sizes = np.floor(np.array(x.shape, np.float32) * scales)
    for axis, (size, new_size) in enumerate(zip(x.shape, new_sizes, strict=True)):
        if axis > 1 and (size == new_size or _has_uncertain_tie(size, new_size, scales[axis], attributes)):
            scales[axis] = 2
    return Case([node("Resize", "x - s", **attributes)], {"x": x}, {"s": scales}, opset=20)


def pad(chance):
    rank, mode = chance.of(1, 2, 3), chance.of("constant", "reflect", "edge", "wrap")
    dtype, sizes = chance.of(np.float32, np.int64, np.uint8), chance.sizes(rank, 2, 7)
    least = -1 if mode == "constant" else 0
    pads = np.array([chance.within(least, size) for size in sizes * 2], np.int64)
    weights = {"p": pads, "v": np.array(3, dtype)}
    inputs = "x p v" if mode == "constant" else "x p"
    return Case([node("Pad", inputs, mode=mode)], {"x": chance.array(*sizes, dtype=dtype)}, weights)


FAMILIES = (conv, conv_transpose, pool, resize, pad)
