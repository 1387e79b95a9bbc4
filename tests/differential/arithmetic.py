"""Generators of random cases for reductions, binary operators, normalisations, recurrent layers,
einsum, quantisation and casts."""
import numpy as np
from onnx import helper

from case import Case, node

FLOAT, HALF = np.float32, np.float16


def put_special(chance, x):
    x.flat[chance.below(x.size)] = chance.of(np.inf, -np.inf, np.nan, 1e38, -0.0)


def reduce(chance):
    sizes = [chance.of(1, 2, 3, 7, 17) for _ in range(chance.of(1, 2, 3, 4))]
    of_floats = ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
    operator = chance.of("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceSumSquare", *of_floats)
    dtype = FLOAT if operator in of_floats else chance.of(FLOAT, FLOAT, np.int32, np.int64)
    x = chance.array(*sizes) if dtype == FLOAT else chance.generator.integers(-9, 9, sizes).astype(dtype)
    # ONNX Runtime ignores NaN in minima and maxima. Products and sums of squares may overflow in
    # one order of the operations, but not in another.
    if dtype == FLOAT and operator not in ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ReduceSumSquare"):
        if chance.one_in(3):
            put_special(chance, x)
    if operator == "ReduceLogSum":
        x = np.abs(x)
    axes = np.array(chance.order(len(sizes))[:chance.below(len(sizes) + 1)], np.int64)
    attributes = {"keepdims": chance.below(2), "noop_with_empty_axes": chance.below(2)}
    # An empty list of axes has another meaning in some versions of some operators.
    if axes.size == 0:
        attributes["noop_with_empty_axes"] = 0
    weights = {"a": axes - len(sizes) * chance.below(2)}
    return Case([node(operator, "x a", **attributes)], {"x": x}, weights, opset=20)


def special_numbers(dtype):
    """Returns special numbers of the type: zeros, small numbers and limits. Floats also have
    negative zero, denormals, infinities and NaN."""
    if np.dtype(dtype).kind == "f":
        numbers = [0., -0., 1, -1, 2, -2, .5, -.5, 3, 7.5, -3, np.inf, -np.inf, np.nan, 1e-40, 65504, 1e38]
        with np.errstate(over="ignore"):
            return np.array(numbers, FLOAT).astype(dtype)
    limits = np.iinfo(dtype)
    numbers = [0, 1, -1, 2, -2, 3, 7, -7, 100, -100, limits.max, limits.min]
    return np.unique([min(max(number, limits.min), limits.max) for number in numbers]).astype(dtype)


def binary(chance):
    operator = chance.of("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mod", "Equal", "Less", "GreaterOrEqual")
    dtype = chance.of(FLOAT, FLOAT, HALF, np.int32, np.int64, np.uint8, np.int8)
    x, y = np.meshgrid(special_numbers(dtype), special_numbers(dtype))
    attributes = {}
    if np.dtype(dtype).kind == "f":
        attributes = {"fmod": 1} if operator == "Mod" else {}
    elif operator in ("Div", "Mod"):  # dividing by zero, or the least number by -1, is undefined
        y = np.where(y == 0, 1, y).astype(dtype)
        x = np.where(x == np.iinfo(dtype).min, 5, x).astype(dtype)
        attributes = {"fmod": chance.below(2)} if operator == "Mod" else {}
    elif operator == "Pow":  # ONNX Runtime computes in double, which cannot hold all integers
        x, y = np.clip(x, 0, 9), np.clip(y, 0, 2)
    return Case([node(operator, "x y", "z", **attributes)], {"x": x, "y": y},
                tolerance=2e-3 if dtype == HALF else 3e-4)


def normalise(chance):
    sizes = [2, 4, *(chance.of(1, 2, 3, 5) for _ in range(2))]
    operator = chance.of("LayerNormalization", "InstanceNormalization", "GroupNormalization", "LpNormalization",
                         "MeanVarianceNormalization", "LRN", "Softmax", "LogSoftmax", "Hardmax", "RMSNormalization")
    # ONNX Runtime computes an inexact variance if the mean is far from 0.
    far = operator not in ("GroupNormalization", "InstanceNormalization", "MeanVarianceNormalization")
    x = (chance.array(*sizes) * chance.of(1, 100) + chance.of(0, 1000 if far else 0)).astype(FLOAT)
    axis, weights, operands, attributes, opset = chance.below(4), {}, "x", {}, 21
    if operator in ("LayerNormalization", "RMSNormalization"):
        weights = {"s": chance.array(*sizes[axis:]), "b": chance.array(*sizes[axis:])}
        operands, attributes = "x s b" if operator[0] == "L" else "x s", {"axis": axis - 4 * chance.below(2)}
        opset = 23 if operator[0] == "R" else 21
    elif operator in ("InstanceNormalization", "GroupNormalization"):
        weights, operands = {"s": chance.array(4), "b": chance.array(4)}, "x s b"
        attributes = {"num_groups": chance.of(1, 2, 4)} if operator[0] == "G" else {}
    elif operator == "LRN":  # the standard and ONNX Runtime differ for even sizes
        attributes = {"size": chance.of(1, 3, 5), "alpha": 0.1, "beta": 0.75, "bias": 1.0}
    elif operator == "MeanVarianceNormalization":
        attributes = {"axes": [0, 2, 3]}
    else:
        attributes = {"axis": axis - 4 * chance.below(2)}
        if operator == "LpNormalization":
            attributes["p"] = chance.of(1, 2)
    return Case([node(operator, operands, **attributes)], {"x": x}, weights, opset=opset)


def recurrent(chance):
    operator, direction = chance.of("LSTM", "GRU", "RNN"), chance.of("forward", "reverse", "bidirectional")
    directions, gates = 2 if direction == "bidirectional" else 1, {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
    steps, batch, width, hidden = chance.within(1, 6), chance.within(1, 4), chance.within(1, 5), chance.within(1, 5)
    attributes = {"direction": direction, "hidden_size": hidden}
    functions = {"LSTM": ["Sigmoid", chance.of("Relu", "Tanh"), "Tanh"], "GRU": ["Sigmoid", chance.of("Relu", "Tanh")],
                 "RNN": [chance.of("Relu", "Tanh", "Sigmoid")]}
    if chance.one_in(3):
        attributes["activations"] = functions[operator] * directions
    if chance.one_in(4):
        attributes["clip"] = 0.5
    if operator == "GRU":
        attributes["linear_before_reset"] = chance.below(2)
    weights = {"w": chance.array(directions, gates * hidden, width),
               "r": chance.array(directions, gates * hidden, hidden),
               "b": chance.array(directions, 2 * gates * hidden), "p": chance.array(directions, 3 * hidden)}
    inputs = {"x": chance.array(steps, batch, width), "h": chance.array(directions, batch, hidden),
              "c": chance.array(directions, batch, hidden),
              "l": chance.generator.integers(1, steps + 1, batch).astype(np.int32)}
    operands = ["x", "w", "r", *(chance.of(name, "-") for name in "blh")]
    if operator == "LSTM":
        operands += [chance.of("c", "-"), "p" if directions == 1 and chance.one_in(3) else "-"]
    while operands[-1] == "-":
        operands.pop()
    results = "y yh yc" if operator == "LSTM" else "y yh"
    given = {name: array for name, array in inputs.items() if name in operands}
    return Case([node(operator, " ".join(operands), results, **attributes)], given, weights)


def einsum(chance):
    size = dict(zip("ijkl", chance.sizes(4, 1, 5)))
    terms = ["".join("ijkl"[i] for i in chance.order(4)[:chance.within(1, 4)]) for _ in range(chance.of(1, 2, 2, 3))]
    used = sorted(set("".join(terms)))
    result = "".join(used[i] for i in chance.order(len(used))[:chance.below(len(used) + 1)])
    names = [f"x{i}" for i in range(len(terms))]
    inputs = {name: chance.array(*(size[label] for label in term)) for name, term in zip(names, terms)}
    return Case([node("Einsum", " ".join(names), equation=f"{','.join(terms)}->{result}")], inputs)


def quantise(chance):
    dtype = chance.of(np.uint8, np.int8, np.int8, np.uint16, np.int16)
    sizes, axis = [chance.of(1, 2, 4, 6) for _ in range(3)], chance.below(3)
    floats = FLOAT if np.dtype(dtype).itemsize == 2 else chance.of(FLOAT, FLOAT, HALF)
    kind, shape, attributes = chance.below(3), [], {}
    if kind:  # a scale for each index of the axis, or for each block of it
        shape, attributes = [sizes[axis]], {"axis": axis - 3 * chance.below(2)}
    if kind == 2:
        attributes["block_size"] = chance.of(1, 2, 3)
        sizes[axis] = 2 * attributes["block_size"]
        shape = [*sizes[:axis], 2, *sizes[axis + 1:]]
    limits = np.iinfo(dtype)
    zero = chance.generator.integers(max(limits.min, -200), min(limits.max, 200), shape).astype(dtype)
    scale = np.exp(chance.generator.uniform(-6, 0, shape)).astype(floats)
    x = (chance.array(*sizes) * chance.of(1, 1, 30, 1e4)).astype(floats)
    if chance.one_in(4):
        x.flat[0] = chance.of(np.inf, -np.inf)
    nodes = [node("QuantizeLinear", "x s z", "q", **attributes), node("DequantizeLinear", "q s z", **attributes)]
    return Case(nodes, {"x": x}, {"s": scale, "z": zero}, tolerance=2e-2 if floats == HALF else 3e-4)


def cast(chance):
    types = (FLOAT, HALF, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint32, np.uint64,
             bool)
    source, target = np.dtype(chance.of(*types)), np.dtype(chance.of(*types))
    if source.kind == "f":
        limits = np.iinfo(target) if target.kind in "iu" else np.iinfo(np.int16)
        x = chance.generator.uniform(max(limits.min, -30000), min(limits.max, 30000), 60).astype(source)
        x[:4] = [0.5, 1.5, 2.5, 0.99]
        if target.kind == "f":
            with np.errstate(all="ignore"):
                x[4:11] = np.array([np.inf, -np.inf, np.nan, -0.0, 1e-7, 65519, 1e-45]).astype(source)
    elif source == np.dtype(bool):
        x = chance.generator.integers(0, 2, 20).astype(bool)
    else:
        limits = np.iinfo(source)
        x = chance.generator.integers(limits.min, limits.max, 60, dtype=source, endpoint=True)
        x[:2] = [limits.min, limits.max]
    to = helper.np_dtype_to_tensor_dtype(target)
    return Case([node("Cast", "x", to=to)], {"x": x}, tolerance=2e-3 if HALF in (source, target) else 3e-4)


FAMILIES = (reduce, binary, normalise, recurrent, einsum, quantise, cast)
