"""Decompositions of the kernels that torch.nn's encoder layers and attention call in inference.

Each of these kernels computes a whole layer, and torch's table does not decompose them.
"""
import torch
from torch.nn import functional as F

aten = torch.ops.aten

# Values of `mask_type`: the mask has the axes [rows, columns] or [batch, columns]. None: the mask
# has the axes of the scores.
_OF_SCORES, _OF_KEYS = 0, 1


def layer_decompositions():
    """Returns decomposition functions by operator, for a table."""
    return {aten._native_multi_head_attention.default: _attention_of_heads,
            aten._transformer_encoder_layer_fwd.default: _encoder_layer}


def _attention_of_heads(query, key, value, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight,
                        proj_bias, mask=None, need_weights=True, average_attn_weights=True,
                        mask_type=None):
    batch, rows = query.shape[:2]
    depth = embed_dim // num_heads
    q, k, v = (x.view(batch, x.shape[1], num_heads, depth).transpose(1, 2)
               for x in _projected(query, key, value, qkv_weight, qkv_bias))
    scores = (q * depth ** -0.5) @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(_broadcastable(mask, mask_type), float("-inf"))
    weights = scores.softmax(-1)
    heads = (weights @ v).transpose(1, 2).reshape(batch, rows, embed_dim)
    if need_weights and average_attn_weights:
        weights = weights.mean(1)
    return F.linear(heads, proj_weight, proj_bias), weights


def _projected(query, key, value, weight, bias):
    """Returns queries, keys and values. If all three operands are the same tensor, one product
    computes all three."""
    if query is key and key is value:
        return F.linear(query, weight, bias).chunk(3, -1)
    return [F.linear(x, w, b)
            for x, w, b in zip((query, key, value), weight.chunk(3), bias.chunk(3), strict=True)]


def _broadcastable(mask, mask_type):
    """Returns a mask that broadcasts to the scores. The kernel treats nonzero numbers as true."""
    mask = mask.to(torch.bool)
    if mask_type == _OF_KEYS:
        return mask[:, None, None, :]
    return mask[None, None] if mask_type == _OF_SCORES and mask.dim() == 2 else mask


def _encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu,
                   norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2,
                   ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None, mask_type=None):
    def attended(x):
        return _attention_of_heads(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight,
                                   proj_bias, mask, False, True, mask_type)[0]

    def fed_forward(x):
        hidden = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(hidden) if use_gelu else F.relu(hidden), ffn_weight_2, ffn_bias_2)

    def first_norm(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second_norm(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if src.numel() == 0:
        return src.clone()
    if norm_first:
        x = src + attended(first_norm(src))
        return x + fed_forward(second_norm(x))
    x = first_norm(src + attended(src))
    return second_norm(x + fed_forward(x))
