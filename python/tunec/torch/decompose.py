"""Which operators stay whole, and which torch writes by others.

What has a handler stays whole: linear, attention, normalisations and activations are one operator
of tunec each. Everything else goes through torch's own table of decompositions.
"""
import functools
from collections.abc import Mapping

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

from .handler_table import handled_names, overload_name
from .own_decompositions import own_decompositions

# Composite operators that export would take apart before any table is asked, and whose parts are
# more than the whole. Only functional ones can be kept.
_KEPT_COMPOSITES = ("linear.default", "matmul.default", "layer_norm.default", "group_norm.default",
                    "rms_norm.default", "scaled_dot_product_attention.default",
                    "adaptive_avg_pool1d.default", "avg_pool1d.default", "pixel_shuffle.default",
                    "pixel_unshuffle.default", "softmax.int", "log_softmax.int",
                    *(f"{kind}{axes}d.default" for axes in (1, 2, 3)
                      for kind in ("upsample_nearest", "_upsample_nearest_exact")))

# Operators that torch can write by others, but has not in its table for export.
_EXTRA = ("_adaptive_avg_pool2d_backward", "grid_sampler_2d", "grid_sampler_3d", "im2col",
          "max_pool2d_with_indices_backward", "upsample_bicubic2d")


def is_kept(target):
    """Whether an operator is imported as one."""
    name = overload_name(target)
    return name in handled_names() and (_is_primitive(target) or name in _KEPT_COMPOSITES)


def _is_primitive(target):
    return not target._can_decompose() or torch.Tag.core in target.tags


def export_decompositions():
    """The table for ExportedProgram.run_decompositions."""
    return _without_kept(torch.export.default_decompositions())


def aot_decompositions():
    """The table for AOTAutograd, which takes composite operators apart itself."""
    return _AotTable()


class _AotTable(Mapping):
    """A table that is made when somebody looks: torch takes half a second for it, and a graph that is
    known already needs none."""

    def __getitem__(self, target):
        return _aot_table()[target]

    def __iter__(self):
        return iter(_aot_table())

    def __len__(self):
        return len(_aot_table())

    def __bool__(self):
        return True


@functools.cache
def _aot_table():
    table = _without_kept(dict(core_aten_decompositions()))
    table[torch.ops.aten.native_dropout.default] = _dropout
    return table


def _dropout(x, p, train):
    """The random numbers by themselves, for torch to make before the graph's other operators: they
    need nothing of x, so what is around them stays one part."""
    if not train or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    kept = torch.rand(x.shape, dtype=torch.float32, device=x.device) >= p
    return x * kept * (1 / (1 - p)), kept


def _without_kept(table):
    for target in list(table):
        if isinstance(target, torch._ops.OpOverload) and is_kept(target):
            del table[target]
    for target, function in get_decompositions(_extra_targets()).items():
        if overload_name(target) not in handled_names():
            table[target] = function
    table.update(own_decompositions())
    return table


def _extra_targets():
    return [getattr(torch.ops.aten, name) for name in _EXTRA]
