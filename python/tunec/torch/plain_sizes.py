"""Tests if the numbers of a module's graphs are sums and products of sizes.

torch has an expression for each size and each number made of sizes. Handlers compute further
numbers from sizes. The handlers listed here only compute sums and products, or leave sizes to the
operator's rule.
"""
import operator
from typing import Any

import torch
from torch import fx

from .handler_table import handler_of
from .symbols import is_plain, is_rounded

# Modules of operators/ whose handlers make no numbers from sizes except sums and products.
_MODULES = ("attention", "comparison", "conversions", "creation", "elementwise", "matmul", "rounding",
            "views")
# Further handlers that make no numbers from sizes except sums and products, by module.
_HANDLERS = {
    "convolution": ("convolution",),
    "indexing": ("embedding", "gather", "index_select"),
    "norms": ("layer_norm", "native_layer_norm", "rms_norm", "softmax", "safe_softmax"),
    "reductions": ("any_of_all", "any_over", "cumsum", "extreme_of_all", "extremes", "mean", "mean_all",
                   "sum_all", "sum_over"),
    "shapes": ("cat", "chunk", "constant_pad", "narrow", "select", "slice_axis", "split",
               "split_with_sizes", "stack", "unbind"),
}


def follows_rules(module: fx.GraphModule) -> bool:
    """Tests if a formula that fits the module's graphs at a few sizes is valid for all sizes."""
    return all(_is_plain_node(node) for node in module.graph.nodes)


def other_expressions(module: fx.GraphModule) -> list[Any]:
    """Returns the size expressions of a module that use more than sums, products and quotients by a
    whole number, rounded down."""
    found = []
    for node in module.graph.nodes:
        for value in _numbers_in(node.meta.get("val")):
            if not is_rounded(value.node.expr):
                found.append(value.node.expr)
    return found


def _numbers_in(meta: Any) -> list[Any]:
    if isinstance(meta, (tuple, list)):
        return [number for m in meta for number in _numbers_in(m)]
    if isinstance(meta, torch.Tensor):
        return [size for size in meta.shape if isinstance(size, torch.SymInt)]
    return [meta] if isinstance(meta, (torch.SymInt, torch.SymFloat, torch.SymBool)) else []


def _is_plain_node(node: fx.Node) -> bool:
    if node.op in ("output", "get_attr"):
        return True
    if not _are_plain(node.meta.get("val")):
        return False
    if node.op == "placeholder" or node.target is operator.getitem:
        return True
    return node.op == "call_function" and (_is_of_sizes(node) or _has_plain_handler(node.target))


def _are_plain(meta: Any) -> bool:
    if isinstance(meta, (tuple, list)):
        return all(_are_plain(m) for m in meta)
    if isinstance(meta, torch.Tensor):
        return all(_are_plain(size) for size in meta.shape)
    if isinstance(meta, torch.SymInt):
        return is_plain(meta.node.expr)
    return meta is None or isinstance(meta, (int, float, str))


def _is_of_sizes(node: fx.Node) -> bool:
    """Tests if a node makes a number that torch has an expression for, or nothing."""
    return node.meta.get("val") is None or isinstance(node.meta["val"], (int, torch.SymInt))


def _has_plain_handler(target: Any) -> bool:
    handler = handler_of(target)
    if handler is None:
        return False
    module = handler.__module__.split(".")[-1]
    return module in _MODULES or handler.__name__ in _HANDLERS.get(module, ())
