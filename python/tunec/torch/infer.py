"""Infers result types, by the rules of graph/ops/infer_*.cc for the operators that the importer
emits.

The importer needs the shapes of its steps to compose operators. The compiler infers the shapes
again and compares them with the text.
"""
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .sizes import Size, is_same

COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
BINARY = frozenset(("add", "sub", "mul", "div", "pow", "min", "max", "mod", "and", "or", "xor",
                    "shl", "shr", "prelu"))
REDUCTIONS = frozenset(("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod",
                        "reduce_l1", "reduce_l2", "reduce_sum_square", "reduce_log_sum_exp"))

# Operators whose first operand may be boolean; other operators require numbers.
BOOLEAN = frozenset(("identity", "not", "cast", "and", "or", "xor", "eq", "ne", "where",
                     "transpose", "reshape", "expand", "slice", "concat", "pad", "tile", "gather",
                     "gather_elements", "scatter"))


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Returns the common shape by NumPy's rule. Raises ValueError if the shapes do not
    broadcast."""
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, start=rank - len(shape)):
            if is_same(size, 1) or is_same(size, result[i]):
                continue
            if not is_same(result[i], 1) and result[i] != size:
                raise ValueError(f"shapes {shapes} do not broadcast")
            if not isinstance(result[i], int) or is_same(result[i], 1):
                result[i] = size
    return tuple(result)


def _reduced(shape: Sequence[int], axes: Sequence[int], keepdims: bool | int) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if i in axes else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def _matmul(a: Sequence[int], b: Sequence[int], attributes: Mapping[str, Any]) -> tuple[int, ...]:
    if attributes.get("transpose_a"):
        a = (*a[:-2], a[-1], a[-2])
    if attributes.get("transpose_b"):
        b = (*b[:-2], b[-1], b[-2])
    if a[-1] != b[-2]:
        raise ValueError(f"matmul of {a} and {b}")
    return (*broadcast(a[:-2], b[:-2]), a[-2], b[-1])


def _slid(x: Sequence[int], kernel: Sequence[int], attributes: Mapping[str, Any]) -> tuple[int, ...]:
    count = len(kernel)
    strides = attributes.get("strides", [1] * count)
    pads = attributes.get("pads", [0] * 2 * count)
    dilations = attributes.get("dilations", [1] * count)
    sizes = (x[2 + i] + pads[i] + pads[i + count] - dilations[i] * (kernel[i] - 1) - 1
             for i in range(count))
    return tuple(size // stride + 1 for size, stride in zip(sizes, strides))


def _conv_transpose(x: Sequence[int], w: Sequence[int], attributes: Mapping[str, Any]) -> tuple[int, ...]:
    kernel = w[2:]
    count = len(kernel)
    strides, pads = attributes["strides"], attributes["pads"]
    dilations, extra = attributes["dilations"], attributes["output_padding"]
    sizes = (strides[i] * (x[2 + i] - 1) + extra[i] + dilations[i] * (kernel[i] - 1) + 1 -
             pads[i] - pads[i + count] for i in range(count))
    return (x[0], w[1] * attributes["group"], *sizes)


def _concat(shapes: Sequence[Sequence[int]], axis: int) -> tuple[int, ...]:
    total = sum(shape[axis] for shape in shapes)
    return (*shapes[0][:axis], total, *shapes[0][axis + 1:])


def _sliced(attributes: Mapping[str, Any]) -> tuple[int, ...]:
    ranges = zip(attributes["starts"], attributes["ends"], attributes["steps"])
    return tuple(_count(start, end, step) for start, end, step in ranges)


def _count(start: int, end: int, step: int) -> int:
    """Returns the number of elements start, start + step, ... before `end`."""
    if not isinstance(start, Size) and not isinstance(end, Size):
        return len(range(start, end, step))
    return max(0, (end - start + step - 1) // step if step > 0 else (start - end - step - 1) // -step)


def infer(op: str, elements: Sequence[Any], shapes: Sequence[Any],
          attributes: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    """Returns the element type and the shape of the single result. `elements` and `shapes` are
    those of the operands, None for omitted operands."""
    if op in COMPARISONS:
        return "bool", broadcast(*shapes)
    if op in BINARY:
        return elements[0], broadcast(*shapes)
    if op == "where":
        return elements[1], broadcast(*shapes)
    if op in REDUCTIONS:
        keepdims = attributes.get("keepdims", 1)
        return elements[0], _reduced(shapes[0], attributes["axes"], keepdims)
    if op in ("argmax", "argmin"):
        return "i64", _reduced(shapes[0], [attributes["axis"]], attributes.get("keepdims", 1))
    if op in ("isnan", "isinf"):
        return "bool", shapes[0]
    if op == "cast":
        return attributes["to"], shapes[0]
    if op == "matmul":
        return elements[0], _matmul(shapes[0], shapes[1], attributes)
    if op == "conv":
        x, w = shapes[:2]
        return elements[0], (x[0], w[0], *_slid(x, w[2:], attributes))
    if op == "conv_transpose":
        return elements[0], _conv_transpose(shapes[0], shapes[1], attributes)
    if op in ("max_pool", "average_pool"):
        x = shapes[0]
        return elements[0], (*x[:2], *_slid(x, attributes["kernel"], attributes))
    if op == "attention":
        return elements[0], (*shapes[0][:-1], shapes[2][-1])
    if op in _MOVEMENT:
        return elements[0], _MOVEMENT[op](shapes, attributes)
    if op == "range":
        start, limit, delta = (attributes[name] for name in ("start", "limit", "delta"))
        if isinstance(limit - start, Size) or isinstance(limit, Size):
            return attributes["to"], (_count(start, limit, delta),)
        return attributes["to"], (max(0, math.ceil((limit - start) / delta)),)
    return elements[0], shapes[0]  # elementwise, normalisations, running sums


_MOVEMENT = {
    "transpose": lambda s, a: tuple(s[0][axis] for axis in a["perm"]),
    "reshape": lambda s, a: tuple(a["shape"]),
    "expand": lambda s, a: tuple(a["shape"]),
    "resize": lambda s, a: tuple(a["shape"]),
    "slice": lambda s, a: _sliced(a),
    "concat": lambda s, a: _concat(s, a["axis"]),
    "pad": lambda s, a: tuple(size + a["pads"][i] + a["pads"][i + len(s[0])]
                              for i, size in enumerate(s[0])),
    "tile": lambda s, a: tuple(n * size for n, size in zip(a["repeats"], s[0])),
    "gather": lambda s, a: (*s[0][:a["axis"]], *s[1], *s[0][a["axis"] + 1:]),
    "gather_elements": lambda s, a: s[1],
}
