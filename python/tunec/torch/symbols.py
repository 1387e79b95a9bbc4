"""Expressions of symbolic sizes."""
import sympy
from torch.utils._sympy.functions import FloorDiv


def solve(sizes):
    """Returns numbers by the names of symbols, from pairs of an expression and its number. Expressions
    that are a symbol come first, then expressions of one unknown symbol."""
    known = {}
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


def is_plain(expression):
    """Whether an expression is a sum of products of whole numbers and sizes, no size twice in one. A
    formula of that form which agrees with a few samples is right between them, too."""
    if expression.is_Integer or expression.is_symbol:
        return True
    terms = sympy.Add.make_args(sympy.expand(expression))
    return all(factor.is_Integer or factor.is_symbol
               for term in terms for factor in sympy.Mul.make_args(term))


def is_rounded(expression):
    """Whether an expression is made of sizes by sums, products, and quotients by a whole number that are
    rounded down."""
    if expression.is_Integer or expression.is_symbol:
        return True
    if isinstance(expression, FloorDiv):
        return is_rounded(expression.args[0]) and expression.args[1].is_Integer
    return (expression.is_Add or expression.is_Mul) and all(map(is_rounded, expression.args))
