"""Builds a graph of the compiler, operator by operator, with arithmetic on its values."""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from .._errors import Error
from .._library import native
from .element_types import element_type, is_float, torch_dtype
from .errors import Rejected
from .sizes import Conditions, Size, SizeNumber, are_same, broadcast, is_same, numbers_of

_MOST_INLINE = 64  # largest element count of a constant in the text


class Value:
    """A value of the graph. Python numbers in arithmetic become constants of its type.

    id          its number in the compiler's graph
    op          its operator, or input, weight or constant
    operands    Values; None is an omitted operand
    attributes  of the operator
    definition  a text of the value without its operands
    elements    of a constant, in row-major order
    """

    def __init__(self, graph: GraphBuilder, id: int, op: str, definition: str,
                 operands: tuple[Any, ...] = (), attributes: Mapping[str, Any] | None = None,
                 elements: Sequence[float] = ()) -> None:
        self.graph, self.id, self.op, self.definition = graph, id, op, definition
        self.operands, self.attributes, self.elements = operands, attributes or {}, elements
        self.element, extents = graph.built.type(id)
        self.shape = tuple(map(graph.conditions.parsed, extents))

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

    def passes_on(self) -> bool:
        """Tests if an operator returns its operand unchanged at these sizes."""
        return (self.op in ("reshape", "expand", "slice", "identity") and
                are_same(self.shape, self.operands[0].shape) and
                all(step == 1 for step in self.attributes.get("steps", ())))


def numel(shape: Iterable[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _attribute_text(value: Any) -> str:
    """Returns a value of an attribute in the form of the .graph text."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_attribute_text, value))}]"
    if isinstance(value, bool):
        return str(int(value))
    return f"({value})" if isinstance(value, Size) else repr(value)


def _type_text(element: str, shape: Iterable[Any]) -> str:
    return f"{element}[{', '.join(map(str, shape))}]"


class GraphBuilder:
    """A builder of a graph. The compiler infers the type of each value."""

    def __init__(self, conditions: Conditions | None = None, name: str = "model") -> None:
        self.conditions = conditions or Conditions({})  # the graph is valid where they hold
        self.built = native().Graph(name)
        self.values: list[Value] = []
        self.weights: dict[str, torch.Tensor] = {}  # tensor by key
        self.hint = ""  # preferred name of the values that are added next
        self._numbers: dict[tuple[str, str], Value] = {}
        self._weight_values: dict[object, Value] = {}
        self._keys: dict[int, str] = {}  # keys by the ids of weights

    def _add(self, value: Value) -> Value:
        self.values.append(value)
        return value

    def input(self, name: str, element: str, shape: Sequence[int]) -> Value:
        written = _type_text(element, shape)
        try:
            number = self.built.add_input(name, written)
        except Error as error:
            raise Rejected(str(error)) from error
        return self._add(Value(self, number, "input", f"input {written}"))

    def emit(self, op: str, *operands: Any, **attributes: Any) -> Value:
        """Adds an operator and returns its result. Raises Rejected if the operator does not accept the
        types or the attributes."""
        written = ", ".join(f"{name}={_attribute_text(value)}" for name, value in attributes.items())
        numbers = [None if operand is None else operand.id for operand in operands]
        try:
            number = self.built.add_node(op, numbers, written, self.hint)
        except Error as error:
            raise Rejected(str(error).removeprefix(f"node {self.hint or op}: ")) from error
        return self._add(Value(self, number, op, f"{op} {written}", operands, attributes))

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
            self._numbers[key] = self._constant("c", element, (), [value])
        return self._numbers[key]

    def _constant(self, name: str, element: str, shape: Sequence[int], elements: Sequence[Any]) -> Value:
        written = _attribute_text(elements if shape else elements[0])
        number = self.built.add_constant(name, _type_text(element, shape), written)
        definition = f"constant {_type_text(element, shape)} = {written}"
        return self._add(Value(self, number, "constant", definition, elements=elements))

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
        elements = tensor.detach().cpu().flatten().tolist()
        return self._constant(self.hint or key, element, tuple(tensor.shape), elements)

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
        written = _type_text(element, tensor.shape)
        number = self.built.add_weight(hint or key, written, key)
        value = self._add(Value(self, number, "weight", f"weight {written}"))
        self._keys[number] = key
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

    def finish(self, outputs: Iterable[tuple[str, Value]]) -> None:
        """Adds the outputs, pairs of a name and a value, and records the compiler's conditions."""
        for name, value in outputs:
            self.built.add_output(name, value.id)
        if self.conditions.has_names:
            for condition in self.built.conditions():
                self.conditions.assume(condition)

    def nameless(self, outputs: Sequence[Value]) -> tuple[str, list[str]]:
        """Returns a text of the computation that does not depend on names, and the keys of its weights
        in the order of the text. Values have numbers instead of names. Operations that return their
        operand unchanged are omitted."""
        needed = {value.id for value in outputs}
        for value in reversed(self.values):
            if value.id in needed:
                needed.update(operand.id for operand in value.operands if operand is not None)
        names: dict[int | None, str] = {None: "_"}
        text: list[str] = []
        for value in self.values:
            if value.id not in needed and value.op != "input":
                continue
            operands = [names[operand and operand.id] for operand in value.operands]
            if value.passes_on():
                names[value.id] = operands[0]
                continue
            names[value.id] = f"v{len(text)}"
            text.append(f"{value.definition} ({', '.join(operands)})")
        keys = [self._keys[number] for number in names if number in self._keys]
        return "\n".join([*text, *(names[value.id] for value in outputs)]), keys
