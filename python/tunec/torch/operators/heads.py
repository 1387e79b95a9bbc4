"""Prepares the heads of an attention: common batch shapes, and groups of queries that share
keys."""
from ..sizes import broadcast


def batched(q, k, v):
    """Broadcasts the batch axes of queries, keys and values to one shape. The number of heads of q
    may be a multiple of that of k and v; otherwise the heads are broadcast, too."""
    rank = max(q.rank, k.rank, v.rank)
    q, k, v = (x.reshape((*[1] * (rank - x.rank), *x.shape)) for x in (q, k, v))
    heads = rank - 3
    if rank < 3:
        return q, k, v
    front = broadcast(*(x.shape[:heads] for x in (q, k, v)))
    groups = q.shape[heads] % max(k.shape[heads], 1) == 0 and k.shape[heads] == v.shape[heads]
    if groups:
        return tuple(x.expand((*front, *x.shape[heads:])) for x in (q, k, v))
    whole = broadcast(*(x.shape[:heads + 1] for x in (q, k, v)))
    return tuple(x.expand((*whole, *x.shape[heads + 1:])) for x in (q, k, v))


def _before_repeat(x):
    """Undoes the repetition of heads: if x [*, H, T, D] is reshape(expand([*, H/g, 1, T, D] to [*,
    H/g, g, T, D])), returns [*, H/g, T, D]. Returns other values unchanged."""
    if x.rank < 3 or x.op != "reshape" or x.operands[0].op != "expand":
        return x
    spread = x.operands[0]
    alone = spread.operands[0]
    if len(alone.shape) != x.rank + 1 or alone.shape[-3] != 1:
        return x
    group = spread.shape[-3]
    *front, heads, _, keys, depth = alone.shape
    if spread.shape != (*front, heads, group, keys, depth):
        return x
    if x.shape != (*front, heads * group, keys, depth):
        return x
    return alone.reshape((*front, heads, keys, depth))


def not_repeated(q, k, v):
    """Returns keys and values without their repetition for groups of query heads. The attention
    reads the same keys for all query heads of a group; a repetition would write the whole cache
    again."""
    if k.rank != v.rank or k.rank != q.rank:
        return k, v
    alone = _before_repeat(k), _before_repeat(v)
    return alone if alone[0].shape[:-2] == alone[1].shape[:-2] else (k, v)


def group_as_rows(q, k, mask):
    """Treats the query heads of a group, with one query each, as several queries of one head. Keys
    and values are then read once per group. Returns queries and mask; the mask may be None."""
    group = q.shape[-3] // k.shape[-3]
    if mask is not None and mask.rank >= 3 and mask.shape[-3] != 1:
        mask = mask.reshape((*mask.shape[:-3], k.shape[-3], group, mask.shape[-1]))
    return q.reshape((*q.shape[:-3], k.shape[-3], group, q.shape[-1])), mask
