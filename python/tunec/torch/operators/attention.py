"""Scaled dot-product attention, as the operator `attention`."""
import math
import struct

from ..builder import Value
from ..errors import Refused
from ..handler_table import handles
from ..infer import broadcast
from .promotion import widened


def _batched(q, k, v):
    """Batches of one shape; heads may be groups."""
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


def _scale(q, scale):
    """The factor of the scores. torch's own formula multiplies queries and keys by its root, and so
    does its export to ONNX: the square of float32's root is what both come to, so either way leads
    to the same kernels."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if q.element != "f32" or scale <= 0:
        return scale
    root = struct.unpack("f", struct.pack("f", math.sqrt(scale)))[0]
    return root * root


def attention(call, q, k, v, mask, causal, scale):
    q, k, v = _batched(q, k, v)
    if q.shape[-1] == 0:
        raise Refused("heads of size 0")
    attributes = {"scale": _scale(q, scale)}
    operands = [q, k, v]
    if causal:
        attributes["causal"] = 1
    if mask is not None:
        operands.append(mask if mask.element == "bool" else mask.cast(q.element))
        attributes["empty_rows"] = "zero"
    return call.graph.emit("attention", *operands, **attributes)


def _no_dropout(p):
    if p > 0:
        raise Refused("random numbers: dropout of attention")


@handles("scaled_dot_product_attention.default")
def scaled_dot_product_attention(call, q, k, v, mask=None, dropout=0.0, causal=False, scale=None,
                                 enable_gqa=False):
    _no_dropout(dropout)
    return attention(call, q, k, v, mask, causal, scale)


def _scores(q, k, mask, causal, scale):
    """Of float32 or wider, masked."""
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


def _log_sums(q, k, mask, causal, scale):
    """The logarithm of each row's sum of exponentials, which the backward pass wants."""
    return _scores(q, k, mask, causal, scale).reduce("log_sum_exp", [-1])


@handles("_scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention_for_cpu(call, q, k, v, dropout=0.0, causal=False, mask=None, scale=None):
    _no_dropout(dropout)
    y = attention(call, q, k, v, mask, causal, scale)
    return y, _log_sums(q, k, mask, causal, _scale(q, scale)).cast(call.element(1))


@handles("_scaled_dot_product_flash_attention.default",
         "_scaled_dot_product_cudnn_attention.default",
         "_scaled_dot_product_efficient_attention.default")
def other_attention(call, q, k, v, *rest):
    """Of GPUs: what they return beside the result is for their own backward pass."""
    rest = list(rest)
    mask = None
    if "flash" not in call.name:
        mask, _ = rest.pop(0), rest.pop(0)
    dropout, causal = rest[0], rest[1]
    _no_dropout(dropout)
    scale = rest[3]
    y = attention(call, q, k, v, mask if isinstance(mask, Value) else None, causal, scale)
    return (y, *[None] * (len(call.result) - 1))


@handles("_scaled_dot_product_flash_attention_for_cpu_backward.default")
def flash_attention_backward(call, gradient, q, k, v, y, log_sums, dropout=0.0, causal=False,
                             mask=None, scale=None):
    """The weights once more, from the scores and the logarithms of their sums; then the chain
    rule."""
    _no_dropout(dropout)
    factor, graph = _scale(q, scale), q.graph
    heads = k.shape[1]
    k, v = (_for_each_query(x, q.shape[1]) for x in (k, v))
    gradient, q, k, v, y, log_sums = (widened(x) for x in (gradient, q, k, v, y, log_sums))
    scores = _scores(q, k, mask, causal, factor)
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
    """Keys or values of groups of queries, once for each of the group."""
    batch, groups, *rest = x.shape
    if groups == heads:
        return x
    apart = x.unsqueeze(2).expand((batch, groups, heads // groups, *rest))
    return apart.reshape((batch, heads, *rest))


def _of_groups(gradient, groups):
    """The gradients of those, summed over each group."""
    batch, heads, *rest = gradient.shape
    if groups == heads:
        return gradient
    return gradient.reshape((batch, groups, heads // groups, *rest)).reduce("sum", [2])
