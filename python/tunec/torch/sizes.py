"""Integers that are made of symbolic sizes.

A handler computes with a Size as with an int. The result has an expression, which is written into
the text, and the number that it has at an example. A comparison gives the example's answer, and the
Conditions of the import record it. So a text is valid at all sizes for which its conditions hold.
"""
from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sympy
from torch.utils._sympy import functions as torch_functions

from .._errors import Error
from .._library import native
from .errors import Rejected


class NeedsNumber(Exception):
    """A handler needs the number of a size, so its graph is not valid at other sizes."""


def symbol(name: str) -> sympy.Symbol:
    """Returns the symbol of a named size. torch makes separate graphs for sizes of 0."""
    return sympy.Symbol(name, integer=True, positive=True)


class Conditions:
    """Relations of sizes that hold at the example, and that an import assumes.

    example  numbers by the names of sizes
    """

    def __init__(self, example: Mapping[str, int]) -> None:
        self._example = {symbol(name): number for name, number in example.items()}
        self._relations: dict[Any, None] = {}  # in their order
        self._parsed: dict[str, Any] = {}  # sizes by the text of the compiler

    @property
    def has_names(self) -> bool:
        return bool(self._example)

    def size(self, expression: sympy.Expr) -> Any:
        """Returns an expression as an int if it is a number, else as a Size."""
        if expression.is_Integer:
            return int(expression)
        number = expression.subs(self._example)
        if not number.is_Integer:
            raise Rejected(f"a size that is not fixed: {expression}")
        return Size(int(number), expression, self)

    def parsed(self, extent: int | str) -> Any:
        """Returns an extent of the compiler, a number or the text of an expression, as an int or a
        Size."""
        if isinstance(extent, int):
            return extent
        if extent not in self._parsed:
            self._parsed[extent] = self._evaluated(extent)
        return self._parsed[extent]

    def assume(self, condition: str) -> None:
        """Records a condition of the compiler, such as "n == 2*m", "3 <= h + 2" or "n is 1 or m".
        Raises Rejected if it is false at the example."""
        size, _, other = condition.partition(" is 1 or ")
        truth = self._evaluated(size)
        if other:
            truth = truth == 1 or truth == self._evaluated(other)
        if not truth:
            raise Rejected(f"a graph that needs {condition}")

    def _evaluated(self, text: str) -> Any:
        """Returns the value of an expression or a relation in the form of the .graph text."""
        code = _WORD.sub(lambda word: _WORDS.get(word[0]) or f"named({_unquoted(word[0])!r})", text)
        return eval(code, {"named": lambda name: self.size(symbol(name)),
                           "least": lambda *sizes: self._extreme(torch_functions.Min, sizes),
                           "greatest": lambda *sizes: self._extreme(torch_functions.Max, sizes)})

    def _extreme(self, function: Any, sizes: Iterable[Any]) -> Any:
        return self.size(function(*map(expression_of, sizes)))

    def holds(self, relation: Any) -> bool:
        """Returns the truth of a relation at the example. Records what is not true for all sizes."""
        if relation in (sympy.true, sympy.false):
            return bool(relation)
        truth = bool(relation.subs(self._example))
        self._relations[relation if truth else sympy.Not(relation)] = None
        return truth

    def ties(self) -> dict[str, str]:
        """Returns names that must equal another name, and the other names."""
        ties: dict[str, str] = {}
        for relation in self._relations:
            if isinstance(relation, sympy.Eq) and all(side.is_symbol for side in relation.args):
                kept, tied = sorted(map(str, relation.args))
                ties.setdefault(tied, kept)
        return {tied: kept for tied, kept in ties.items() if kept not in ties}

    def texts(self) -> list[str]:
        """Returns the conditions as text of Python (see Check)."""
        return [_relation_text(relation) for relation in self._relations]

    def described(self) -> list[str]:
        """Returns the conditions in the form of the .graph text."""
        return [_relation_text(relation, "/", "mod", _name_text) for relation in self._relations]

    def fixes_sizes(self) -> bool:
        """Tests if a size is only allowed to have certain numbers."""
        return any(isinstance(relation, sympy.Eq) for relation in self._relations)

    def renamed(self, sizes: Mapping[str, int | str]) -> list[str] | None:
        """Returns the conditions as text, with numbers or other names for sizes. Returns None if one
        is false."""
        new = {symbol(name): symbol(size) if isinstance(size, str) else sympy.Integer(size)
               for name, size in sizes.items()}
        relations = [relation.subs(new, simultaneous=True) for relation in self._relations]
        if any(relation == sympy.false for relation in relations):
            return None
        return [_relation_text(relation) for relation in relations if relation != sympy.true]


class Check:
    """A function that tests if conditions hold. `conditions`: Python's text of each one."""

    def __init__(self, conditions: Iterable[str]) -> None:
        self.conditions = list(dict.fromkeys(conditions))
        self._code = [compile(text, "condition", "eval") for text in self.conditions]
        self._known: dict[tuple[tuple[str, int], ...], bool] = {}

    def __call__(self, numbers: Mapping[str, int]) -> bool:
        key = tuple(sorted(numbers.items()))
        if key not in self._known:
            names = {_python_name(name): number for name, number in numbers.items()}
            try:
                self._known[key] = all(eval(code, {"min": min, "max": max}, names) for code in self._code)
            except ZeroDivisionError:
                self._known[key] = False
        return self._known[key]


def _arithmetic(function: Callable[[Any, Any], Any], swapped: bool = False) -> Any:
    def method(self: Size, other: Any) -> Any:
        if not isinstance(other, (int, Size)):
            return NotImplemented
        operands = (self.expression, expression_of(other))
        return self.conditions.size(function(*(operands[::-1] if swapped else operands)))
    return method


def _quotient(function: Callable[[Any, Any], Any]) -> Any:
    """Returns the method of a quotient or a remainder. torch's functions simplify quotients by
    negative numbers wrongly."""
    divide = _arithmetic(function)

    def method(self: Size, other: Any) -> Any:
        if isinstance(other, int) and other <= 0:
            raise NeedsNumber(f"the number of the size {self}")
        return divide(self, other)
    return method


def _comparison(function: Callable[[Any, Any], Any]) -> Any:
    def method(self: Size, other: Any) -> Any:
        if isinstance(other, float):
            raise NeedsNumber(f"the number of the size {self}")
        if not isinstance(other, (int, Size)):
            return NotImplemented
        zero = sympy.Integer(0)
        difference = zero if is_same(self, other) else sympy.expand(self.expression - expression_of(other))
        return self.conditions.holds(function(difference, zero) if difference.is_Integer
                                     else function(self.expression, expression_of(other)))
    return method


class Size:
    """An integer with its expression of named sizes, and with its number at the example."""

    __slots__ = ("conditions", "expression", "number")

    def __init__(self, number: int, expression: sympy.Expr, conditions: Conditions) -> None:
        self.number, self.expression, self.conditions = number, expression, conditions

    __add__ = _arithmetic(operator.add)
    __radd__ = _arithmetic(operator.add, swapped=True)
    __sub__ = _arithmetic(operator.sub)
    __rsub__ = _arithmetic(operator.sub, swapped=True)
    __mul__ = _arithmetic(operator.mul)
    __rmul__ = _arithmetic(operator.mul, swapped=True)
    __floordiv__ = _quotient(torch_functions.FloorDiv)
    __rfloordiv__ = _arithmetic(torch_functions.FloorDiv, swapped=True)
    __mod__ = _quotient(torch_functions.PythonMod)
    __rmod__ = _arithmetic(torch_functions.PythonMod, swapped=True)
    __eq__ = _comparison(sympy.Eq)
    __ne__ = _comparison(sympy.Ne)
    __lt__ = _comparison(sympy.Lt)
    __le__ = _comparison(sympy.Le)
    __gt__ = _comparison(sympy.Gt)
    __ge__ = _comparison(sympy.Ge)

    def __neg__(self) -> Any:
        return self * -1

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __bool__(self) -> bool:
        return bool(self != 0)

    __hash__ = None  # type: ignore[assignment]  # a set would compare sizes without a condition

    def __index__(self) -> int:
        raise NeedsNumber(f"the number of the size {self}")

    __int__ = __abs__ = bit_length = __index__

    def __float__(self) -> float:
        raise NeedsNumber(f"the number of the size {self}")

    def __truediv__(self, other: Any) -> Any:
        raise NeedsNumber(f"a fraction of the size {self}")

    __rtruediv__ = __pow__ = __rpow__ = __truediv__

    def __str__(self) -> str:
        return _text(self.expression, "/", "mod", _name_text)

    __repr__ = __str__


class SizeNumber:
    """A float or a bool that is made of sizes. Handlers only pass it to GraphBuilder.number."""

    __slots__ = ("expression",)

    def __init__(self, expression: sympy.Expr) -> None:
        self.expression = expression

    def __str__(self) -> str:
        return str(self.expression)


def expression_of(value: int | Size) -> sympy.Expr:
    return value.expression if isinstance(value, Size) else sympy.Integer(value)


def numbers_of(shape: Iterable[Any]) -> tuple[int, ...]:
    """Returns a shape with the numbers of the example."""
    return tuple(size.number if isinstance(size, Size) else size for size in shape)


def are_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Tests if two shapes are equal at all sizes. Records no condition."""
    return len(one) == len(other) and all(map(is_same, one, other))


def is_same(one: Any, other: Any) -> bool:
    """Tests if two sizes are equal at all sizes. Records no condition."""
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    if expression_of(one) == expression_of(other):
        return True
    try:
        return native().sizes_are_equal(str(one), str(other))
    except (Error, Rejected):  # a size that the text cannot express, or that is beyond a limit
        return False


def broadcast(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the common shape by NumPy's rule. Raises ValueError if the shapes do not
    broadcast."""
    rank = max(map(len, shapes), default=0)
    result: list[Any] = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, start=rank - len(shape)):
            if is_same(size, 1) or is_same(size, result[axis]):
                continue
            if not is_same(result[axis], 1) and result[axis] != size:
                raise ValueError(f"shapes {shapes} do not broadcast")
            if not isinstance(result[axis], int) or result[axis] == 1:
                result[axis] = size
    return tuple(result)


# torch's functions of two integers, by the operator that the text has for them.
_QUOTIENTS = ("FloorDiv", "CleanDiv")
_REMAINDERS = ("Mod", "PythonMod")


def _text(expression: Any, quotient: str, remainder: str, name: Callable[[str], str]) -> str:
    """Returns an expression as text. `quotient` and `remainder` are operators, and `name` writes a
    named size. Raises Rejected for expressions other than sums, products, quotients rounded down,
    remainders, minima and maxima."""
    def part(operand: Any) -> str:
        written = text(operand)
        return written if operand.is_symbol or operand.is_Integer and operand >= 0 else f"({written})"

    def text(e: Any) -> str:
        kind = type(e).__name__
        if e.is_Integer:
            return str(int(e))
        if e.is_symbol:
            return name(str(e))
        if e.is_Add:
            # The grammar has no sign before the first product.
            terms = sorted(e.args, key=lambda term: (term.could_extract_minus_sign(), term.is_Integer))
            first, *rest = terms
            return part(first) + "".join(
                f" - {part(-term)}" if term.could_extract_minus_sign() else f" + {part(term)}"
                for term in rest)
        if e.is_Mul:
            factors = sorted(e.args, key=lambda factor: not factor.is_Integer)
            return " * ".join(part(factor) for factor in factors)
        if e.is_Pow and e.exp.is_Integer and e.exp > 0:
            return " * ".join([part(e.base)] * int(e.exp))
        if kind in _QUOTIENTS:
            return f"{part(e.args[0])} {quotient} {part(e.args[1])}"
        if kind in _REMAINDERS:
            return f"{part(e.args[0])} {remainder} {part(e.args[1])}"
        if kind == "ModularIndexing":
            return f"({part(e.args[0])} {quotient} {part(e.args[1])}) {remainder} {part(e.args[2])}"
        if kind in ("Min", "Max"):
            return f"{kind.lower()}({', '.join(map(text, e.args))})"
        raise Rejected(f"a size that the text cannot express: {e}")

    return text(expression)


# A name, a word or a division in the .graph text, and what Python has instead.
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$.]*|/')
_WORDS = {"/": "//", "mod": "%", "min": "least", "max": "greatest"}


def _unquoted(name: str) -> str:
    return ast.literal_eval(name) if name.startswith('"') else name


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)


def _name_text(name: str) -> str:
    """Returns the name of a size in the .graph text."""
    is_plain = _IDENTIFIER.match(name) and name not in ("min", "max", "mod")
    return name if is_plain else f'"{name}"'


def _python_name(name: str) -> str:
    return "size_" + "".join(c if c.isalnum() else f"_{ord(c)}_" for c in name)


def _relation_text(relation: Any, quotient: str = "//", remainder: str = "%",
                   name: Callable[[str], str] = _python_name) -> str:
    """Returns a relation as text, by default of Python."""
    if isinstance(relation, sympy.Not):
        return f"not ({_relation_text(relation.args[0], quotient, remainder, name)})"
    sides = [_text(side, quotient, remainder, name) for side in relation.args]
    return f" {relation.rel_op} ".join(sides)
