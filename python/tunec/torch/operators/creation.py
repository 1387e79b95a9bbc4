"""Imports operators that create tensors, such as full and arange, and triangles of matrices."""
import torch

from ..builder import Value
from ..element_types import torch_dtype
from ..handler_table import handles


@handles("full.default")
def full(call, size, value, *_, **__):
    return call.graph.full(call.shape(), value, call.element())


@handles("full_like.default", "new_full.default")
def full_like(call, x, first, *rest):
    value = rest[0] if call.name == "new_full" else first
    if isinstance(value, Value):
        return value.cast(call.element()).reshape(()).expand(call.shape())
    return call.graph.full(call.shape(), value, call.element())


@handles("zeros.default", "ones.default", "zeros_like.default", "ones_like.default",
         "new_zeros.default", "new_ones.default")
def zeros(call, *_):
    return call.graph.full(call.shape(), int("ones" in call.name), call.element())


@handles("empty.memory_format", "empty_like.default", "new_empty.default", "empty_strided.default",
         "new_empty_strided.default", "empty_permuted.default")
def empty(call, *_):
    """Returns zeros, since torch leaves the contents undefined."""
    return call.graph.full(call.shape(), 0, call.element())


@handles("scalar_tensor.default")
def scalar_tensor(call, value, *_):
    return call.graph.number(value, call.element())


@handles("arange.start_step")
def arange(call, start, end, step=1, *_):
    return call.graph.iota(call.shape()[0], call.element(), start, step)


@handles("arange.default")
def arange_to(call, end, *_):
    return call.graph.iota(call.shape()[0], call.element())


@handles("arange.start")
def arange_from(call, start, end, *_):
    return call.graph.iota(call.shape()[0], call.element(), start)


@handles("linspace.default")
def linspace(call, start, end, steps, *_):
    """Returns a constant that torch computes: for integer types, the result depends on how each
    step is rounded."""
    dtype = torch_dtype(call.element())
    return call.graph.constant(torch.linspace(start, end, steps, dtype=dtype))


@handles("eye.default", "eye.m")
def eye(call, *_):
    rows, columns = call.shape()
    g = call.graph
    same = g.along(0, 2, rows).compare("eq", g.along(1, 2, columns))
    return same.cast(call.element())


@handles("tril.default", "triu.default")
def triangle(call, x, diagonal=0):
    g = call.graph
    row, column = g.along(0, 2, x.shape[-2]) + diagonal, g.along(1, 2, x.shape[-1])
    in_triangle = column.compare("le" if call.name == "tril" else "ge", row)
    return g.where(in_triangle, x, g.full((), 0, x.element))
