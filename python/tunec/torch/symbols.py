"""Functions on expressions of symbolic sizes."""
from collections.abc import Sequence

import sympy


def solve(sizes: Sequence[tuple[sympy.Expr, int]]) -> dict[str, int]:
    """Returns numbers by symbol name, from pairs of an expression and its number. Expressions that
    are a symbol are solved first, then expressions with one unknown symbol."""
    known: dict[sympy.Symbol, int] = {}
    for expression, number in sizes:
        if expression.is_symbol:
            known.setdefault(expression, number)
    for expression, number in sizes:
        unknown = expression.free_symbols - set(known)
        if len(unknown) == 1:
            symbol = unknown.pop()
            solutions = sympy.solve(expression.subs(known) - number, symbol)
            if len(solutions) == 1:
                known[symbol] = int(solutions[0])
    return {str(symbol): number for symbol, number in known.items()}
