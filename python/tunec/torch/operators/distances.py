"""Imports distances between rows."""
import math

from ..errors import Rejected
from ..handler_table import handles


def _norms(d, p):
    """Returns p-norms over the last axis."""
    if d.shape[-1] == 0:
        return d.graph.full(d.shape[:-1], 0, d.element)
    d = d.unary("abs")
    if p == 0:
        return d.compare("ne", 0).cast(d.element).reduce("sum", [-1])
    whole = {1: "sum", 2: "l2", math.inf: "max"}.get(p)
    if whole is not None:
        return d.reduce(whole, [-1])
    return d.graph.emit("pow", d.graph.emit("pow", d, d.number(p)).reduce("sum", [-1]),
                        d.number(1 / p))


@handles("_cdist_forward.default")
def distances(call, a, b, p, *_):
    """Returns the distances from each row of `a` to each row of `b`. The compiler fuses the subtraction
    into the norm's reduction, so the differences are not stored."""
    return _norms(a.unsqueeze(-2) - b.unsqueeze(-3), p)


@handles("_pdist_forward.default")
def distances_of_pairs(call, x, p=2.0):
    """Returns the distances from each row to each later row. Rejects more than a million pairs."""
    count = x.shape[0]
    first = [i for i in range(count) for _ in range(i + 1, count)]
    second = [j for i in range(count) for j in range(i + 1, count)]
    if not first:
        return call.graph.full((0,), 0, x.element)
    if len(first) > 1 << 20:
        raise Rejected("distances of more than a million pairs")
    ints = call.graph.ints
    return _norms(x.gather(ints(first)) - x.gather(ints(second)), p)
