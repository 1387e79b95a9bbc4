"""Functions on expressions of symbolic sizes."""
from collections.abc import Sequence

import sympy
from torch.utils._sympy.functions import FloorDiv


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


def is_plain(expression: sympy.Expr) -> bool:
    """Tests for a sum of products of whole numbers and sizes. If such a formula fits enough samples,
    it is valid at all sizes."""
    if expression.is_Integer or expression.is_symbol:
        return True
    terms = sympy.Add.make_args(sympy.expand(expression))
    return all(factor.is_Integer or factor.is_symbol
               for term in terms for factor in sympy.Mul.make_args(term))


def is_rounded(expression: sympy.Expr) -> bool:
    """Tests for an expression of sums, products, and quotients of sizes by a whole number, rounded
    down."""
    if expression.is_Integer or expression.is_symbol:
        return True
    if isinstance(expression, FloorDiv):
        return is_rounded(expression.args[0]) and expression.args[1].is_Integer
    return (expression.is_Add or expression.is_Mul) and all(map(is_rounded, expression.args))
