"""Writes a program with dynamic sizes as one .graph text, in which sizes are names.

The program is imported at a few sample sizes. The texts may differ only in numbers. A number that
differs must follow an expression of the sizes that the .graph form supports. If torch computes a
number by more than sums and products, the text is also compared at many other sizes.
"""
from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram

from .plain_sizes import follows_rules, other_expressions

# Matches whole numbers outside names and fractions.
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_MOST_DIVISOR = 16
# A text is compared at _COMPARED consecutive sizes of one symbol, in which a rounded quotient repeats
# several times. It is also compared at sizes that exceed the least size by the numbers of _FAR.
_COMPARED = 128
_FAR = (1000, 4099)


def symbol_of(program: ExportedProgram, place: str) -> str:
    """Returns the symbol of an axis "INPUT:AXIS". Raises ValueError if the axis is not dynamic."""
    name, _, axis = place.rpartition(":")
    shapes = {node.name: node.meta["val"].shape
              for node in program.graph.find_nodes(op="placeholder")
              if isinstance(node.meta.get("val"), torch.Tensor)}
    if name not in shapes or not axis.isdigit() or int(axis) >= len(shapes[name]):
        raise ValueError(f"{place!r} is not an axis of an input, expected INPUT:AXIS")
    size = shapes[name][int(axis)]
    if not isinstance(size, torch.SymInt) or not size.node.expr.is_symbol:
        raise ValueError(f"the size of {place} is {size}, expected a dynamic size")
    return str(size.node.expr)


def samples_for(program: ExportedProgram, symbols: Sequence[str]) -> list[tuple[int, ...]]:
    """Returns sample sizes: tuples with a number for each symbol. Each further sample differs from
    the first in one symbol or in all symbols. Raises ValueError if a symbol has fewer than 3
    allowed sizes."""
    choices = []
    for i, symbol in enumerate(symbols):
        low, most = _range_of(program, symbol)
        high = int(min(low + 40, most))
        if high < low + 2:
            raise ValueError(f"the program allows sizes from {low} to {high}, expected 3 or more sizes")
        # Symbols with one wide range get different numbers, so a number in a text shows its symbol.
        first = min(low + 3 + 2 * i, high - 2)
        choices.append((first, min(first + 4 + i, high - 1), high))
    base = tuple(choice[0] for choice in choices)
    moved = [base[:i] + (size,) + base[i + 1:]
             for i, choice in enumerate(choices) for size in choice[1:]]
    return [base, *moved, tuple(c[1] for c in choices), tuple(c[2] for c in choices)]


@dataclass(frozen=True)
class NamedText:
    """A text with names for sizes: fixed words, with an expression of sizes between each two."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    expressions: tuple[str, ...]

    def __str__(self) -> str:
        return self._joined(self.expressions)

    def at(self, sizes: tuple[int, ...]) -> str:
        """Returns the text for a tuple of numbers, one per name. Quotients are rounded down."""
        numbers = dict(zip(self.names, sizes))
        return self._joined([str(eval(e.replace("/", "//"), {}, numbers)) for e in self.expressions])

    def _joined(self, between: Iterable[str]) -> str:
        return self.words[0] + "".join(e + w for e, w in zip(between, self.words[1:], strict=True))


def text_for(program: ExportedProgram, symbols: Sequence[str], names: Sequence[str],
             text_at: Callable[[tuple[int, ...]], str]) -> NamedText:
    """Returns the NamedText of a program. `text_at` returns the text for a tuple of sizes. Unless
    rules prove the NamedText for all sizes, it is compared with texts at many sizes. Raises
    ValueError if no NamedText fits."""
    samples = samples_for(program, symbols)
    text = _named(text_at, names, samples)
    if follows_rules(program.graph_module) and not any("/" in e for e in text.expressions):
        return text
    other = other_expressions(program.graph_module)
    if other:
        raise ValueError(f"the program makes {other[0]} of sizes, which a text cannot express: give the "
                         "sizes by --size")
    for sizes in _many_sizes(program, symbols, samples[0]):
        if text.at(sizes) != text_at(sizes):
            raise ValueError("the program's graph differs at sizes other than those of the "
                             f"samples: at {'x'.join(map(str, sizes))}")
    return text


def _many_sizes(program: ExportedProgram, symbols: Sequence[str],
                base: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yields tuples in which one symbol takes many allowed sizes; the others are as in `base`."""
    for i, symbol in enumerate(symbols):
        low, high = _range_of(program, symbol)
        for size in [*range(low, low + _COMPARED), *(low + far for far in _FAR)]:
            if size <= high:
                yield base[:i] + (size,) + base[i + 1:]


def _range_of(program: ExportedProgram, symbol: str) -> tuple[int, Any]:
    """Returns the least size of a symbol, at least 2, and the greatest, which is often infinity."""
    bounds = {str(s): bound for s, bound in program.range_constraints.items()}
    bound = bounds.get(symbol)
    return (2, float("inf")) if bound is None else (max(2, int(bound.lower)), bound.upper)


def named_text(text_at: Callable[[tuple[int, ...]], str], names: Sequence[str],
               samples: Sequence[tuple[int, ...]]) -> str:
    """Returns the text with names for sizes. `text_at` returns the text of one sample. Raises
    ValueError if the samples' texts do not fit one text."""
    return str(_named(text_at, names, samples))


def _named(text_at: Callable[[tuple[int, ...]], str], names: Sequence[str],
           samples: Sequence[tuple[int, ...]]) -> NamedText:
    texts = [text_at(sample) for sample in samples]
    words = _NUMBER.split(texts[0])
    if any(_NUMBER.split(text) != words for text in texts[1:]):
        raise ValueError("the program's graph differs at other sizes")
    columns = zip(*(_NUMBER.findall(text) for text in texts))
    expressions = tuple(_expression(column, names, samples) for column in columns)
    return NamedText(tuple(names), tuple(words), expressions)


def _expression(written: Sequence[str], names: Sequence[str], samples: Sequence[tuple[int, ...]]) -> str:
    if len(set(written)) == 1:
        return written[0]
    column = [int(number) for number in written]
    found = (_sum(column, names, samples) or _product(column, names, samples) or
             _quotient(column, names, samples))
    if found is None:
        numbers = ", ".join(f"{value} at {'x'.join(map(str, sizes))}"
                            for value, sizes in zip(column, samples))
        raise ValueError(f"a number of the graph follows no expression of the sizes: {numbers}")
    return found


def _sum(column: Sequence[int], names: Sequence[str], samples: Sequence[tuple[int, ...]]) -> str | None:
    """Returns the expression factor * name + ... + constant, or None if it does not fit."""
    factors = []
    for i in range(len(names)):
        other = next(k for k, sizes in enumerate(samples)
                     if sizes[i] != samples[0][i] and _moves_alone(sizes, samples[0], i))
        change, rest = divmod(column[other] - column[0], samples[other][i] - samples[0][i])
        if rest:
            return None
        factors.append(change)
    constant = column[0] - sum(f * size for f, size in zip(factors, samples[0]))
    if any(constant + sum(f * s for f, s in zip(factors, sizes)) != value
           for value, sizes in zip(column, samples)):
        return None
    terms = [(f, name if abs(f) == 1 else f"{abs(f)} * {name}") for f, name in zip(factors, names) if f]
    if constant:
        terms.append((constant, str(abs(constant))))
    # By the grammar, a size must not begin with a minus. In an attribute, it must not begin with a
    # number that an operator follows.
    terms.sort(key=lambda term: term[0] < 0 or term[1].isdigit())
    if terms[0][0] < 0:
        return None
    return "".join((f" {'-' if sign < 0 else '+'} " if i else "") + term
                   for i, (sign, term) in enumerate(terms))


def _moves_alone(sizes: tuple[int, ...], base: tuple[int, ...], i: int) -> bool:
    return all(a == b for k, (a, b) in enumerate(zip(sizes, base)) if k != i)


def _product(column: Sequence[int], names: Sequence[str], samples: Sequence[tuple[int, ...]]) -> str | None:
    """Returns the expression name * name * factor, or None if it does not fit."""
    for count in range(1, len(names) + 1):
        for chosen in itertools.combinations(range(len(names)), count):
            products = [_of(sizes, chosen) for sizes in samples]
            factor = column[0] // products[0]
            if factor and all(value == factor * p for value, p in zip(column, products)):
                text = " * ".join(names[i] for i in chosen)
                return text if factor == 1 else f"{text} * {factor}"
    return None


def _of(sizes: tuple[int, ...], chosen: Iterable[int]) -> int:
    product = 1
    for i in chosen:
        product *= sizes[i]
    return product


def _quotient(column: Sequence[int], names: Sequence[str], samples: Sequence[tuple[int, ...]]) -> str | None:
    """Returns the expression name / divisor + constant if exactly one fits, else None."""
    found = []
    for i, name in enumerate(names):
        for divisor in range(2, _MOST_DIVISOR + 1):
            rest = {value - sizes[i] // divisor for value, sizes in zip(column, samples)}
            if len(rest) != 1:
                continue
            constant = rest.pop()
            added = f" {'-' if constant < 0 else '+'} {abs(constant)}" if constant else ""
            found.append(f"{name} / {divisor}{added}")
    return found[0] if len(found) == 1 else None
