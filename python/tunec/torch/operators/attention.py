"""Imports scaled dot-product attention as one operator, or as matrix products for one query."""
import math
import struct

from ..builder import Value
from ..errors import Rejected
from ..handler_table import handles
from .heads import batched, group_as_rows, not_repeated
from .promotion import widened
from .scores import scores_of, with_few_rows


def _scale(q, scale):
    """Returns the factor of the scores. torch's own formula and its ONNX export multiply queries
    and keys by the root of the factor. For float32 queries, the factor is the square of that float32 root,
    so that all forms lead to the same kernels."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if q.element != "f32" or scale <= 0:
        return scale
    root = struct.unpack("f", struct.pack("f", math.sqrt(scale)))[0]
    return root * root


# Largest number of score rows for which separate products are emitted. A product of more rows would
# copy the keys.
_FEW_ROWS = 1


def attention(call, q, k, v, mask, causal, scale):
    k, v = not_repeated(q, k, v)
    q, k, v = batched(q, k, v)
    if q.shape[-1] == 0:
        raise Rejected("heads of size 0")
    if mask is not None and mask.element != "bool":
        mask = mask.cast(q.element)
    if causal or q.rank < 3 or q.shape[-2] != 1 or k.shape[-2] == 0:
        return _fused(q, k, v, mask, causal, scale)
    rows, mask = group_as_rows(q, k, mask)
    few = rows.shape[-2] <= _FEW_ROWS and q.element in ("f32", "f64")
    y = (with_few_rows(rows, k, v, mask, _scale(q, scale)) if few else
         _fused(rows, k, v, mask, causal, scale))
    return y.reshape((*q.shape[:-1], v.shape[-1]))


def _fused(q, k, v, mask, causal, scale):
    """Emits one attention operator, which does not store the scores."""
    attributes = {"scale": _scale(q, scale)}
    if causal:
        attributes["causal"] = 1
    if mask is None:
        return q.graph.emit("attention", q, k, v, **attributes)
    return q.graph.emit("attention", q, k, v, mask, **attributes, empty_rows="zero")


def _no_dropout(p):
    if p > 0:
        raise Rejected("random numbers: dropout of attention")


@handles("scaled_dot_product_attention.default")
def scaled_dot_product_attention(call, q, k, v, mask=None, dropout=0.0, causal=False, scale=None,
                                 enable_gqa=False):
    _no_dropout(dropout)
    return attention(call, q, k, v, mask, causal, scale)


def _log_sums(q, k, mask, causal, scale):
    """Returns the logarithm of each row's sum of exponentials, which the backward pass needs."""
    return scores_of(q, k, mask, causal, scale).reduce("log_sum_exp", [-1])


@handles("_scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention_for_cpu(call, q, k, v, dropout=0.0, causal=False, mask=None, scale=None):
    _no_dropout(dropout)
    y = attention(call, q, k, v, mask, causal, scale)
    return y, _log_sums(q, k, mask, causal, _scale(q, scale)).cast(call.element(1))


@handles("_scaled_dot_product_flash_attention.default",
         "_scaled_dot_product_cudnn_attention.default",
         "_scaled_dot_product_efficient_attention.default")
def other_attention(call, q, k, v, *others):
    """Imports attention of GPUs. All results but the first are None: only torch's own backward pass
    uses them."""
    rest = list(others)
    mask = None
    if "flash" not in call.name:
        mask, _ = rest.pop(0), rest.pop(0)
    dropout, causal = rest[0], rest[1]
    _no_dropout(dropout)
    scale = rest[-1]
    y = attention(call, q, k, v, mask if isinstance(mask, Value) else None, causal, scale)
    return (y, *[None] * (len(call.result) - 1))


@handles("_scaled_dot_product_flash_attention_for_cpu_backward.default")
def flash_attention_backward(call, gradient, q, k, v, y, log_sums, dropout=0.0, causal=False,
                             mask=None, scale=None):
    """Recomputes the attention weights from the scores and `log_sums` (see _log_sums), then applies
    the chain rule."""
    _no_dropout(dropout)
    factor, graph = _scale(q, scale), q.graph
    heads = k.shape[1]
    k, v = (_for_each_query(x, q.shape[1]) for x in (k, v))
    gradient, q, k, v, y, log_sums = (widened(x) for x in (gradient, q, k, v, y, log_sums))
    scores = scores_of(q, k, mask, causal, factor)
    weights = (scores - log_sums.unsqueeze(-1)).unary("exp")
    of_v = graph.emit("matmul", weights.swap(2, 3), gradient)
    of_weights = graph.emit("matmul", gradient, v, transpose_b=1)
    shared = (gradient * y).reduce("sum", [-1], True)
    of_scores = weights * (of_weights - shared) * factor
    of_q = graph.emit("matmul", of_scores, k)
    of_k = graph.emit("matmul", of_scores.swap(2, 3), q)
    of_k, of_v = (_of_groups(x, heads) for x in (of_k, of_v))
    return tuple(x.cast(call.element(i)) for i, x in enumerate((of_q, of_k, of_v)))


def _for_each_query(x, heads):
    """Repeats keys or values for each query head of a group."""
    batch, groups, *rest = x.shape
    if groups == heads:
        return x
    apart = x.unsqueeze(2).expand((batch, groups, heads // groups, *rest))
    return apart.reshape((batch, heads, *rest))


def _of_groups(gradient, groups):
    """Sums the gradients of repeated keys or values over each group of heads."""
    batch, heads, *rest = gradient.shape
    if groups == heads:
        return gradient
    return gradient.reshape((batch, groups, heads // groups, *rest)).reduce("sum", [2])
