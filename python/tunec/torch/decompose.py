"""Decides which operators are imported whole and which torch decomposes.

Operators with a handler stay whole: linear, attention, normalisations and activations are one tunec
operator each. torch's table and own_decompositions.py decompose other operators.
"""
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

from .handler_table import handled_names, overload_name
from .own_decompositions import own_decompositions

# Composite operators that export would decompose before it reads a table, into more costly parts.
# All of them are functional, since export can preserve no other operators.
_IMPORTED_COMPOSITES = ("linear.default", "matmul.default", "layer_norm.default", "group_norm.default",
                    "rms_norm.default", "scaled_dot_product_attention.default",
                    "adaptive_avg_pool1d.default", "avg_pool1d.default", "pixel_shuffle.default",
                    "pixel_unshuffle.default", "softmax.int", "log_softmax.int",
                    *(f"{kind}{axes}d.default" for axes in (1, 2, 3)
                      for kind in ("upsample_nearest", "_upsample_nearest_exact")))

# Operators whose decompositions torch has, but not in its table for export.
_EXTRA = ("_adaptive_avg_pool2d_backward", "grid_sampler_2d", "grid_sampler_3d", "im2col",
          "max_pool2d_with_indices_backward", "upsample_bicubic2d")


def is_imported_directly(target: Any) -> bool:
    """Tests if an operator is imported as it is, without a decomposition."""
    name = overload_name(target)
    return name in handled_names() and (_is_primitive(target) or name in _IMPORTED_COMPOSITES)


def _is_primitive(target: Any) -> bool:
    return not target._can_decompose() or torch.Tag.core in target.tags


def export_decompositions() -> dict[Any, Callable[..., Any]]:
    """Returns the table for ExportedProgram.run_decompositions."""
    return _without_imported(torch.export.default_decompositions())


def aot_decompositions() -> Mapping[Any, Callable[..., Any]]:
    """Returns the table for AOTAutograd, which decomposes composite operators itself."""
    return _AotTable()


class _AotTable(Mapping):
    """A table that is built at its first use. Building takes torch half a second, and a graph from
    the cache needs no table."""

    def __getitem__(self, target: Any) -> Callable[..., Any]:
        return _aot_table()[target]

    def __iter__(self) -> Iterator[Any]:
        return iter(_aot_table())

    def __len__(self) -> int:
        return len(_aot_table())

    def __bool__(self) -> bool:
        return True


@functools.cache
def _aot_table() -> dict[Any, Callable[..., Any]]:
    table = _without_imported(dict(core_aten_decompositions()))
    table[torch.ops.aten.native_dropout.default] = _dropout
    return table


def _dropout(x: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Draws the random numbers by a separate operator. They do not depend on x, so torch can draw
    them before all other operators, and the operators around the dropout stay in one part."""
    if not train or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    mask = torch.rand(x.shape, dtype=torch.float32, device=x.device) >= p
    return x * mask * (1 / (1 - p)), mask


def _without_imported(table: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    for target in list(table):
        if isinstance(target, torch._ops.OpOverload) and is_imported_directly(target):
            del table[target]
    for target, function in get_decompositions(_extra_targets()).items():
        if overload_name(target) not in handled_names():
            table[target] = function
    table.update(own_decompositions())
    return table


def _extra_targets() -> list[Any]:
    return [getattr(torch.ops.aten, name) for name in _EXTRA]
