"""Scaled dot-product attention, as the operator `attention`."""
import math
import struct

from ..builder import Value
from ..errors import Refused
from ..graph_text import Operation
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


def _before_repeat(x):
    """Keys or values [*, H, T, D] that are [*, H/g, T, D] with each head repeated g times, before
    that: reshape(expand([*, H/g, 1, T, D] to [*, H/g, g, T, D])). Else as they are."""
    line = x.line
    if x.rank < 3 or not _is(line, "reshape") or not _is(line.inputs[0], "expand"):
        return x
    spread = line.inputs[0]
    *front, heads, one, keys, depth = spread.inputs[0].shape
    group = spread.shape[len(front) + 1] if len(spread.shape) == x.rank + 1 else 0
    if one != 1 or spread.shape != (*front, heads, group, keys, depth):
        return x
    if x.shape != (*front, heads * group, keys, depth):
        return x
    return Value(x.graph, spread.inputs[0]).reshape((*front, heads, keys, depth))


def _is(line, op):
    return isinstance(line, Operation) and line.op == op


def _of_groups(q, k, v):
    """Heads of keys and values that are repeated for groups of queries, as they were before: an
    attention reads them for each query, where repeating writes all of a cache once more."""
    if k.rank != v.rank or k.rank != q.rank:
        return k, v
    alone = _before_repeat(k), _before_repeat(v)
    same = alone[0].shape[:-2] == alone[1].shape[:-2]
    return alone if same else (k, v)


def attention(call, q, k, v, mask, causal, scale):
    k, v = _of_groups(q, k, v)
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
    if causal or q.shape[-2] != 1 or q.rank < 3:
        return call.graph.emit("attention", *operands, **attributes)
    if q.shape[-3] == k.shape[-3] and q.element in ("f32", "f64"):
        return _of_one_query(*operands, scale=attributes["scale"])
    shape = (*q.shape[:-1], v.shape[-1])
    if _is_one_query_of_groups(operands):
        operands[0] = q.reshape((*k.shape[:-2], q.shape[-3] // k.shape[-3], q.shape[-1]))
    return call.graph.emit("attention", *operands, **attributes).reshape(shape)


def _of_one_query(q, k, v, mask=None, *, scale):
    """Products of a matrix and a vector, which read keys and values as fast as memory gives them: one
    row of scores is short enough to be kept. Where the mask hides all keys, zeros."""
    scores = _scores(q, k, mask, False, scale)
    y = q.graph.emit("matmul", scores.unary("softmax", axis=scores.rank - 1), v)
    if mask is None:
        return y
    hidden = scores.reduce("max", [-1], True).compare("eq", -math.inf)
    return q.graph.where(hidden, y.number(0), y)


def _is_one_query_of_groups(operands):
    """Whether each head of keys has several heads of one query, under a mask that is the same for all
    of them: they may be the several queries of one head, and keys and values are read once."""
    q, k = operands[:2]
    mask = operands[3] if len(operands) > 3 else None
    is_same = mask is None or mask.rank < 3 or mask.shape[-3] == 1
    return q.shape[-3] != k.shape[-3] and is_same


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
    if q.shape[1] != k.shape[1]:
        raise Refused("gradients of grouped queries")
    factor, graph = _scale(q, scale), q.graph
    gradient, q, k, v, y, log_sums = (widened(x) for x in (gradient, q, k, v, y, log_sums))
    scores = _scores(q, k, mask, causal, factor)
    weights = (scores - log_sums.unsqueeze(-1)).unary("exp")
    of_v = graph.emit("matmul", weights.swap(2, 3), gradient)
    of_weights = graph.emit("matmul", gradient, v, transpose_b=1)
    shared = (gradient * y).reduce("sum", [-1], True)
    of_scores = weights * (of_weights - shared) * factor
    of_q = graph.emit("matmul", of_scores, k)
    of_k = graph.emit("matmul", of_scores.swap(2, 3), q)
    return tuple(x.cast(call.element(i)) for i, x in enumerate((of_q, of_k, of_v)))
