"""Builds a graph of the text form, operator by operator, with arithmetic on its values."""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from .element_types import element_type, is_float, torch_dtype
from .errors import Rejected
from .graph_text import Constant, Input, Line, Operation, Weight, nameless, write_graph
from .infer import BOOLEAN, broadcast, infer
from .sizes import Conditions, NeedsNumber, Size, SizeNumber, are_same, is_same, numbers_of

# Attributes that may contain named sizes.
_SIZES = frozenset(("shape", "starts", "ends", "repeats", "depth", "start", "limit", "pads",
                    "kernel", "causal_offset"))
_MOST_INLINE = 64  # largest element count of a constant in the text


class Value:
    """A value of the graph. Python numbers in arithmetic become constants of its type."""

    def __init__(self, graph: GraphBuilder, line: Line, tensor: torch.Tensor | None = None) -> None:
        self.graph = graph
        self.line = line
        self.tensor = tensor  # the value's elements as a torch tensor, if known
        self.element = line.element
        self.shape = tuple(line.shape)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def count(self) -> int:
        return numel(self.shape)

    @property
    def is_float(self) -> bool:
        return is_float(self.element)

    @property
    def meta(self) -> torch.Tensor:
        """Returns a tensor without data of the same type and shape, for torch's rules of type
        promotion."""
        return torch.empty(numbers_of(self.shape), dtype=torch_dtype(self.element), device="meta")

    def _other(self, other: Any) -> Value:
        return other if isinstance(other, Value) else self.number(other)

    def number(self, value: Any) -> Value:
        return self.graph.number(value, self.element)

    def __add__(self, other: Any) -> Value:
        return self.graph.emit("add", self, self._other(other))

    def __sub__(self, other: Any) -> Value:
        return self.graph.emit("sub", self, self._other(other))

    def __mul__(self, other: Any) -> Value:
        return self.graph.emit("mul", self, self._other(other))

    def __truediv__(self, other: Any) -> Value:
        return self.graph.emit("div", self, self._other(other))

    def __neg__(self) -> Value:
        return self.graph.emit("neg", self)

    def __and__(self, other: Any) -> Value:
        return self.graph.emit("and", self, self._other(other))

    def __or__(self, other: Any) -> Value:
        return self.graph.emit("or", self, self._other(other))

    def __invert__(self) -> Value:
        return self.graph.emit("not", self)

    def compare(self, op: str, other: Any) -> Value:
        """Compares elementwise. `op`: eq, ne, lt, le, gt, ge."""
        return self.graph.emit(op, self, self._other(other))

    def unary(self, op: str, **attributes: Any) -> Value:
        return self.graph.emit(op, self, **attributes)

    def min(self, other: Any) -> Value:
        return self.graph.emit("min", self, self._other(other))

    def max(self, other: Any) -> Value:
        return self.graph.emit("max", self, self._other(other))

    def cast(self, element: str) -> Value:
        if element == self.element:
            return self
        return self.graph.emit("cast", self, to=element)

    def reshape(self, shape: Sequence[int]) -> Value:
        shape = tuple(shape)
        if are_same(shape, self.shape):
            return self
        return self.graph.emit("reshape", self, shape=list(shape))

    def expand(self, shape: Sequence[int]) -> Value:
        shape = tuple(shape)
        if are_same(shape, self.shape):
            return self
        return self.graph.emit("expand", self, shape=list(shape))

    def transpose(self, perm: Sequence[int]) -> Value:
        if list(perm) == list(range(self.rank)):
            return self
        return self.graph.emit("transpose", self, perm=list(perm))

    def swap(self, a: int, b: int) -> Value:
        """Exchanges two axes."""
        perm = list(range(self.rank))
        perm[a], perm[b] = perm[b], perm[a]
        return self.transpose(perm)

    def unsqueeze(self, axis: int) -> Value:
        at = axis + self.rank + 1 if axis < 0 else axis
        return self.reshape((*self.shape[:at], 1, *self.shape[at:]))

    def slice(self, axis: int, begin: int, end: int, step: int = 1) -> Value:
        size = self.shape[axis]
        if are_same((begin, end, step), (0, size, 1)):
            return self
        starts, ends, steps = [0] * self.rank, list(self.shape), [1] * self.rank
        starts[axis], ends[axis], steps[axis] = begin, end, step
        return self.graph.emit("slice", self, starts=starts, ends=ends, steps=steps)

    def pad(self, pads: Sequence[int], value: float = 0.0, mode: str = "constant") -> Value:
        """Pads each axis. `pads` first lists the numbers of elements before each axis, then the
        numbers after each axis."""
        if all(is_same(pad, 0) for pad in pads):
            return self
        return self.graph.emit("pad", self, pads=list(pads), value=value, mode=mode)

    def reduce(self, op: str, axes: Iterable[int], keepdims: bool = False) -> Value:
        """Reduces over `axes`. `op`: sum, mean, max, min, prod, ... Returns this value if `axes` is
        empty."""
        axes = sorted(axis % self.rank for axis in axes)
        if not axes:
            return self
        return self.graph.emit(f"reduce_{op}", self, axes=axes, keepdims=int(keepdims))

    def gather(self, indices: Value, axis: int = 0) -> Value:
        return self.graph.emit("gather", self, indices, axis=axis % self.rank)

    def gather_elements(self, indices: Value, axis: int) -> Value:
        return self.graph.emit("gather_elements", self, indices, axis=axis)

    def scatter(self, indices: Value, updates: Value, axis: int, depth: int = 1,
                reduction: str = "none") -> Value:
        """Returns this value after a scatter: `updates` replace or are combined with (`reduction`)
        the elements at `indices` along `axis`. Indices are broadcast to the updates. With a depth
        above 1, an index is a row-major position over that many axes, beginning with `axis`."""
        return self.graph.emit("scatter", self, indices, updates, axis=axis, depth=depth,
                               reduction=reduction)

    def source_of(self, op: str) -> Any:
        """Returns the line of the first operand if `op` computed this value, else None."""
        if isinstance(self.line, Operation) and self.line.op == op:
            return self.line.inputs[0]
        return None


def numel(shape: Iterable[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


class GraphBuilder:
    """A builder of the lines of a graph. Each line has the type of the value that it defines."""

    def __init__(self, conditions: Conditions | None = None) -> None:
        self.conditions = conditions or Conditions({})  # the graph is valid where they hold
        self.lines: list[Line] = []
        self.weights: dict[str, torch.Tensor] = {}  # tensor by key
        self.hint = ""  # preferred name of the values that are added next
        self._numbers: dict[tuple[str, str], Value] = {}
        self._weight_values: dict[object, Value] = {}

    def _add(self, line: Line, tensor: torch.Tensor | None = None) -> Value:
        self.lines.append(line)
        return Value(self, line, tensor)

    def input(self, name: str, element: str, shape: Sequence[int]) -> Value:
        return self._add(Input(element, tuple(shape), name))

    def emit(self, op: str, *operands: Any, **attributes: Any) -> Value:
        """Adds an operator and returns its result. Raises ValueError if shapes do not fit, and
        Rejected if the operator does not accept booleans."""
        if op not in BOOLEAN and operands and operands[0].element == "bool":
            raise Rejected(f"{op} of booleans")
        for name, value in attributes.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            if name not in _SIZES and any(isinstance(number, Size) for number in values):
                raise NeedsNumber(f"a size as {name} of {op}")
        shapes = [None if x is None else x.shape for x in operands]
        elements = [None if x is None else x.element for x in operands]
        element, shape = infer(op, elements, shapes, attributes)
        lines = tuple(None if x is None else x.line for x in operands)
        return self._add(Operation(element, shape, self.hint, op, lines, attributes))

    def number(self, value: Any, element: str) -> Value:
        """Returns a scalar constant. Equal constants are one value. A Size or a SizeNumber becomes a
        value that is computed from the sizes of a run."""
        if isinstance(value, Size):
            return self.iota(1, start=value).reshape(()).cast(element)
        if isinstance(value, SizeNumber):
            return self._real(value.expression).cast(element)
        value = float(value) if is_float(element) else int(value)
        key = (element, repr(value))
        if key not in self._numbers:
            tensor = None
            if abs(value) != float("inf") and value == value and element not in ("u64", "u32"):
                tensor = torch.tensor(value, dtype=torch_dtype(element))
            self._numbers[key] = self._add(Constant(element, (), "c", [value]), tensor)
        return self._numbers[key]

    def _real(self, expression: Any) -> Value:
        """Returns the value of an expression of sizes as a scalar of f64."""
        kind = type(expression).__name__
        if expression.is_number:
            return self.number(float(expression), "f64")
        if kind in ("IntTrueDiv", "FloatTrueDiv"):
            dividend, divisor = map(self._real, expression.args)
            return dividend / divisor
        if kind == "ToFloat":
            return self._real(expression.args[0])
        is_root = kind in ("Pow", "FloatPow") and float(expression.args[1]) == 0.5
        if is_root or kind == "OpaqueUnaryFn_sqrt":
            return self._real(expression.args[0]).unary("sqrt")
        if expression.is_integer:
            return self.number(self.conditions.size(expression), "i64").cast("f64")
        if expression.is_Add or expression.is_Mul:
            first, *rest = map(self._real, expression.args)
            for other in rest:
                first = first + other if expression.is_Add else first * other
            return first
        raise Rejected(f"a number that is made of sizes and is no whole one: {expression}")

    def full(self, shape: Sequence[int], value: Any, element: str) -> Value:
        return self.number(value, element).expand(shape)

    def constant(self, tensor: torch.Tensor, key: str = "constant") -> Value:
        """Returns a tensor's contents as a constant in the text if it has at most _MOST_INLINE
        elements, else as a weight."""
        element = element_type(tensor.dtype)
        if element is None:
            raise Rejected(f"a tensor of {tensor.dtype}")
        if tensor.numel() > _MOST_INLINE:
            return self.weight(self._free_key(key), tensor.contiguous())
        tensor = tensor.detach().cpu()
        elements = tensor.flatten().tolist()
        return self._add(Constant(element, tuple(tensor.shape), self.hint or key, elements), tensor)

    def ints(self, values: Iterable[int]) -> Value:
        return self.constant(torch.tensor(list(values), dtype=torch.int64))

    def _free_key(self, key: str) -> str:
        if key not in self.weights:
            return key
        return next(k for k in (f"{key}_{n}" for n in itertools.count()) if k not in self.weights)

    def weight(self, key: str, tensor: torch.Tensor, hint: str = "") -> Value:
        """Adds a weight that shares the tensor's memory. If an earlier weight has the same address,
        shape, strides and type, returns that weight."""
        same = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        if tensor.numel() > 0 and same in self._weight_values:
            return self._weight_values[same]
        element = element_type(tensor.dtype)
        if element is None:
            raise Rejected(f"the weight {key} is {tensor.dtype}")
        self.weights[key] = tensor
        value = self._add(Weight(element, tuple(tensor.shape), hint or key, key), tensor)
        self._weight_values[same] = value
        return value

    def iota(self, count: Any, element: str = "i64", start: Any = 0, step: Any = 1) -> Value:
        """Returns `count` numbers: start, start + step, ..."""
        limit = start + count * step
        if isinstance(start, Size) or isinstance(limit, Size):
            return self.emit("range", start=start, limit=limit, delta=step, to=element)
        return self.emit("range", start=float(start), limit=float(limit), delta=float(step), to=element)

    def along(self, axis: int, rank: int, count: int) -> Value:
        """Returns 0, 1, ... along `axis` of `rank` axes; the other axes have size 1."""
        shape = [1] * rank
        shape[axis] = count
        return self.iota(count).reshape(shape)

    def where(self, condition: Value, yes: Any, no: Any) -> Value:
        if not isinstance(yes, Value):
            yes = no.number(yes)
        if not isinstance(no, Value):
            no = yes.number(no)
        return self.emit("where", condition, yes, no)

    def concat(self, parts: Sequence[Value], axis: int) -> Value:
        return parts[0] if len(parts) == 1 else self.emit("concat", *parts, axis=axis)

    def broadcast(self, *values: Value) -> list[Value]:
        """Expands all values to their common shape."""
        shape = broadcast(*(v.shape for v in values))
        return [v.expand(shape) for v in values]

    def text(self, name: str, outputs: Iterable[tuple[str, Value]]) -> str:
        """Returns the text of the graph. `outputs` are pairs of a name and a value."""
        return write_graph(name, self.lines, [(n, value.line) for n, value in outputs])

    def nameless(self, outputs: Iterable[tuple[str, Value]]) -> tuple[str, list[str]]:
        """Returns a text that does not depend on names, and its weights: see graph_text.nameless.
        `outputs` are as in `text`."""
        return nameless(self.lines, [value.line for _, value in outputs])
