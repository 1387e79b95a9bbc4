"""Functions on expressions of symbolic sizes."""
from collections.abc import Sequence

import sympy

_MOST_SIZE = 2**40


def solve(sizes: Sequence[tuple[sympy.Expr, int]]) -> dict[str, int]:
    """Returns numbers by symbol name, from pairs of an expression and its number. Expressions that
    are a symbol are solved first, then expressions with one unknown symbol. If several numbers
    solve an expression such as s // 2, the least one is returned: all sizes of a graph follow from
    the sizes of its inputs, so the numbers are equivalent."""
    known: dict[sympy.Symbol, int] = {}
    for expression, number in sizes:
        if expression.is_symbol:
            known.setdefault(expression, number)
    for expression, number in sizes:
        unknown = expression.free_symbols - set(known)
        if len(unknown) == 1:
            symbol = unknown.pop()
            solution = _solution(expression.subs(known), symbol, number)
            if solution is not None:
                known[symbol] = solution
    return {str(symbol): number for symbol, number in known.items()}


def _solution(expression: sympy.Expr, symbol: sympy.Symbol, number: int) -> int | None:
    """Returns the least positive number that solves an expression, or None if there is none. An
    expression that does not grow with the symbol needs sympy, which cannot solve quotients that are
    rounded down."""
    def value(candidate: int) -> int:
        return int(expression.subs(symbol, candidate))

    low, high = 1, 1
    while value(high) < number and high < _MOST_SIZE:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if value(middle) >= number else (middle + 1, high)
    if value(low) == number:
        return low
    try:
        solutions = sympy.solve(expression - number, symbol)
    except NotImplementedError:
        return None
    return int(solutions[0]) if len(solutions) == 1 else None
