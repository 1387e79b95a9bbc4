"""Imports matrix products.

A transpose of a matrix becomes an attribute of the product. For weights with more axes the
transpose stays an operator, which the compiler computes once. torch's ONNX export writes the same
forms, so both imports lead to the same kernels.
"""
from ..errors import Rejected
from ..handler_table import handles


def matmul(a, b, transpose_b=False):
    """Multiplies by NumPy's rule: a left vector is a row, a right vector a column; its axis is
    removed."""
    row, column = a.rank == 1, b.rank == 1
    if row:
        a = a.unsqueeze(0)
    if column:
        b = b.unsqueeze(-1)
    attributes = {"transpose_b": 1} if transpose_b else {}
    y = a.graph.emit("matmul", a, b, **attributes)
    if row:
        y = y.reshape((*y.shape[:-2], y.shape[-1]))
    return y.reshape(y.shape[:-1]) if column else y


def product(a, b):
    """Multiplies matrices; a transpose of b becomes an attribute of the product."""
    is_turned = b.rank == 2 and b.op == "transpose"
    return matmul(a, b.operands[0], transpose_b=True) if is_turned else matmul(a, b)


@handles("mm.default")
def mm(call, a, b, *_):
    return product(a, b)


@handles("bmm.default", "matmul.default", "dot.default", "mv.default", "vdot.default")
def batched(call, a, b, *_):
    return matmul(a, b)


def _scaled(x, factor):
    return x if factor == 1 else x * factor


def _with_addend(addend, y, beta, alpha):
    y = _scaled(y, alpha)
    return y if beta == 0 else y + _scaled(addend, beta)


@handles("addmm.default")
def addmm(call, addend, a, b, beta=1, alpha=1):
    return _with_addend(addend, product(a, b), beta, alpha)


@handles("baddbmm.default", "addmv.default")
def baddbmm(call, addend, a, b, beta=1, alpha=1):
    return _with_addend(addend, matmul(a, b), beta, alpha)


@handles("linear.default")
def linear(call, x, weight, bias=None):
    if weight.rank == 1:
        y = matmul(x, weight)
        return y if bias is None else y + bias
    if x.rank == 2:
        y = matmul(x, weight, transpose_b=True)
        return y if bias is None else y + bias
    y = matmul(x, weight.swap(0, 1))
    return y if bias is None else bias + y


@handles("_grouped_mm.default", "transformers::grouped_mm_fallback.default")
def grouped_mm(call, rows, weights, ends=None, *_):
    """Multiplies rows, sorted by group, by the matrix of their group (mixtures of experts). Each
    row is multiplied by the matrices of all groups, and the product with its own group's matrix is
    selected. `ends`: index after the last row of each group."""
    if rows.rank != 2 or weights.rank != 3 or ends is None:
        raise Rejected("groups other than of rows")
    g = call.graph
    number, groups = g.iota(rows.shape[0]), weights.shape[0]
    before = number.unsqueeze(1).compare("ge", ends.cast("i64"))
    group = before.cast("i64").reduce("sum", [1])
    products = matmul(rows.unsqueeze(0), weights)  # [groups, rows, out]
    own = group.compare("eq", g.iota(groups).unsqueeze(1)).unsqueeze(-1)
    return g.where(own, products, 0).reduce("sum", [0])
