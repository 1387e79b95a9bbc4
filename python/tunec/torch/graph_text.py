"""Writes the lines, names and numbers of the `.graph` text (docs/reference/graph_format.md).

Lines are objects until the graph is complete. Names are therefore chosen last, and lines that no
output depends on are not written.
"""
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .sizes import Size, are_same

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z0-9_$]+)*\Z", re.ASCII)
_WORDS = frozenset(("input", "output", "weight", "constant", "graph", "layout", "from", "init",
                    "as", "_", "inf", "nan"))


def quote(text: str) -> str:
    """Returns a text as a string literal of the `.graph` text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def name_text(name: str) -> str:
    """Returns a name, as a string literal unless it is an identifier and not a word of the
    grammar."""
    return name if _IDENTIFIER.match(name) and name not in _WORDS else quote(name)


def number_text(value: int | float) -> str:
    """Returns a number as text; floats have the shortest digits that round-trip."""
    if isinstance(value, Size):
        return str(value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def attribute_text(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(number_text(v) for v in value) + "]"
    return number_text(value)


@dataclass(eq=False)
class Line:
    """A line that defines one value. `hint` is its preferred name."""

    element: str
    shape: tuple[int, ...]
    hint: str = ""

    def type_text(self) -> str:
        return f"{self.element}[{', '.join(str(size) for size in self.shape)}]"

    def operands(self) -> tuple[Line, ...]:
        return ()

    def text(self, name: str, names: Mapping[Line, str]) -> str:
        raise NotImplementedError


@dataclass(eq=False)
class Input(Line):
    def text(self, name: str, _names: Mapping[Line, str]) -> str:
        return f"input {name}: {self.type_text()}"


@dataclass(eq=False)
class Weight(Line):
    key: str = ""

    def text(self, name: str, _names: Mapping[Line, str]) -> str:
        return f"weight {name}: {self.type_text()} from {quote(self.key)}"


@dataclass(eq=False)
class Constant(Line):
    elements: list[int | float] = field(default_factory=list)  # in row-major order

    def text(self, name: str, _names: Mapping[Line, str]) -> str:
        numbers = [number_text(e) for e in self.elements]
        written = "[" + ", ".join(numbers) + "]" if self.shape else numbers[0]
        return f"constant {name}: {self.type_text()} = {written}"


@dataclass(eq=False)
class Operation(Line):
    op: str = ""
    inputs: tuple[Any, ...] = ()  # lines; None is an omitted operand
    attributes: dict[str, Any] = field(default_factory=dict)

    def operands(self) -> tuple[Line, ...]:
        return tuple(line for line in self.inputs if line is not None)

    def text(self, name: str, names: Mapping[Line, str]) -> str:
        operands = ", ".join("_" if line is None else names[line] for line in self.inputs)
        items = [f"{key}={attribute_text(value)}" for key, value in self.attributes.items()]
        attributes = " {" + ", ".join(items) + "}" if items else ""
        # The compiler infers the type. Its expression of a size may have another form.
        has_names = any(isinstance(size, Size) for size in self.shape)
        type_text = "" if has_names else f": {self.type_text()}"
        return f"{name} = {self.op}({operands}){attributes}{type_text}"


class _Names:
    """A maker of unique names for lines."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def of(self, hint: str) -> str:
        name = hint or "v"
        if name in self._taken or not hint:
            number = self._last.get(name, 0)
            while f"{name}_{number}" in self._taken:
                number += 1
            self._last[name] = number + 1
            name = f"{name}_{number}"
        self._taken.add(name)
        return name


def live_lines(lines: Sequence[Line], outputs: Iterable[Line]) -> list[Line]:
    """Returns, in their order, the inputs and the lines that `outputs` depend on."""
    needed = set()
    pending = list(outputs)
    while pending:
        line = pending.pop()
        if line in needed:
            continue
        needed.add(line)
        pending.extend(line.operands())
    return [line for line in lines if line in needed or isinstance(line, Input)]


def write_graph(name: str, lines: Sequence[Line], outputs: Sequence[tuple[str, Line]]) -> str:
    """Returns the text of a graph. `lines` are in order of definition; `outputs` are pairs of a
    name and a line."""
    live = live_lines(lines, [line for _, line in outputs])
    chosen, names = _Names(), {}
    # Inputs are named first, because their names are part of the interface.
    for line in [*(x for x in live if isinstance(x, Input)), *live]:
        if line not in names:
            names[line] = name_text(chosen.of(line.hint))
    text = [f"graph {name_text(name)} {{"]
    text += [f"  {line.text(names[line], names)}" for line in live]
    text += [f"  output {name_text(output)} = {names[line]}" for output, line in outputs]
    return "\n".join([*text, "}", ""])


def nameless(lines: Sequence[Line], outputs: Sequence[Line]) -> tuple[str, list[str]]:
    """Returns a text of the computation that does not depend on names, and the keys of its weights
    in the order of the text. Values have numbers instead of names. Operations that return their
    operand unchanged are omitted."""
    names: dict[Line, str] = {}
    text: list[str] = []
    weights: list[str] = []
    for line in live_lines(lines, outputs):
        if isinstance(line, Operation) and _passes_on(line):
            names[line] = names[line.inputs[0]]
            continue
        names[line] = f"v{len(text)}"
        if isinstance(line, Weight):
            weights.append(line.key)
        text.append(f"weight {line.type_text()}" if isinstance(line, Weight)
                    else line.text(names[line], names))
    return "\n".join([*text, *(names[line] for line in outputs)]), weights


def _passes_on(line: Operation) -> bool:
    """Tests if an operation returns its operand unchanged at these sizes."""
    if line.op not in ("reshape", "expand", "slice", "identity"):
        return False
    steps = line.attributes.get("steps", [])
    return are_same(line.shape, line.inputs[0].shape) and all(step == 1 for step in steps)
