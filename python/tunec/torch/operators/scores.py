"""Computes attention scores by separate operators, if the scores are needed or if that is
faster."""
import math

from .promotion import widened


def scores_of(q, k, mask, causal, scale):
    """Returns masked scores in float32 or wider."""
    graph = q.graph
    q, k = widened(q), widened(k)
    group = q.shape[-3] // k.shape[-3]
    if group > 1:
        apart = k.unsqueeze(-3).expand((*k.shape[:-2], group, *k.shape[-2:]))
        k = apart.reshape((*k.shape[:-3], q.shape[-3], *k.shape[-2:]))
    scores = graph.emit("matmul", q, k, transpose_b=1) * scale
    if mask is not None:
        scores = (graph.where(mask, scores, -math.inf) if mask.element == "bool"
                  else scores + mask.cast(scores.element))
    if causal:
        queries = graph.along(0, 2, q.shape[-2])
        keys = graph.along(1, 2, k.shape[-2])
        scores = graph.where(keys.compare("le", queries), scores, -math.inf)
    return scores


def with_few_rows(q, k, v, mask, scale):
    """Computes the attention of a few queries by products that read keys and values in place, at
    about the memory bandwidth. A row of the result is 0 if the mask hides all its keys."""
    scores = scores_of(q, k, mask, False, scale)
    y = q.graph.emit("matmul", scores.unary("softmax", axis=scores.rank - 1), v)
    if mask is None:
        return y
    hidden = scores.reduce("max", [-1], True).compare("eq", -math.inf)
    return q.graph.where(hidden, 0, y)
