"""Decompositions of operators that torch's table computes otherwise than torch's kernels.

Torch takes some operators apart before it asks any table, by kernels of Python for its key Autograd.
Rules replace these kernels while a graph is traced for tunec, and at no other time.
"""
import contextlib
import contextvars
import functools

import torch
from torch._C import DispatchKey
from torch._decomp import decomposition_table, get_decompositions
from torch._decomp.decompositions import upsample_compute_output_size

aten = torch.ops.aten

# While a graph is traced for tunec.
_tracing = contextvars.ContextVar("tracing", default=False)

_NARROW = (torch.bfloat16, torch.float16)


def own_decompositions():
    """Returns functions by operator for a table. One that returns NotImplemented keeps its operator whole."""
    table = {aten.addr.default: _addr, aten._softmax_backward_data.default: _softmax_backward,
             aten.grid_sampler_2d.default: _grid_sampler}
    table |= {overload: functools.partial(_linspace, overload)
              for overload in (aten.linspace.default, aten.linspace.Tensor_Tensor,
                               aten.linspace.Tensor_Scalar, aten.linspace.Scalar_Tensor)}
    return table


@contextlib.contextmanager
def own_rules():
    """A context in which the rules hold, in this thread."""
    _replace_kernels()
    token = _tracing.set(True)
    try:
        yield
    finally:
        _tracing.reset(token)


def _addr(addend, column, row, *, beta=1, alpha=1):
    """The kernel multiplies a factor by alpha, since the product alone may overflow."""
    if not addend.is_floating_point():
        return decomposition_table[aten.addr.default](addend, column, row, beta=beta, alpha=alpha)
    product = (column if alpha == 1 else column * alpha).unsqueeze(1) * row
    return product if beta == 0 else addend * beta + product


def _softmax_backward(gradient, output, dim, input_dtype):
    """The kernel subtracts the sum from the gradient, and multiplies by the output last."""
    wide, y = (x.float() if x.dtype in _NARROW else x for x in (gradient, output))
    total = (wide * y).sum(dim, keepdim=True)
    return ((wide - total) * y).to(input_dtype).contiguous()


def _linspace(overload, start, end, steps, *, dtype=None, **where):
    """Integers stay whole: steps fall on integers, so the kernel's roundings decide what truncation gives."""
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        return NotImplemented
    return decomposition_table[overload](start, end, steps, dtype=dtype, **where)


def _grid_sampler(images, grid, mode=0, padding=0, align_corners=False):
    """Computes places between pixels in float32: in bfloat16 they would be off by whole pixels."""
    if images.dtype not in _NARROW:
        return _sampled(images, grid, mode, padding, align_corners)
    wide = _sampled(images.float(), grid.float(), mode, padding, align_corners)
    return wide.to(images.dtype)


def _sampled(images, grid, mode, padding, align_corners):
    """Torch's decomposition. The kernel takes the first pixel for a place that is NaN after clipping,
    and has NaN for one that no padding clips."""
    torchs = get_decompositions([aten.grid_sampler_2d])[aten.grid_sampler_2d.default]
    height, width = images.shape[2:]
    known = torch.stack([grid[..., 0] * (width / 2), grid[..., 1] * (height / 2)], -1).isfinite()
    if mode != 2 and padding == 1:
        grid = torch.where(grid.isnan(), -1, grid)
    elif mode != 2 and padding == 2:
        grid = torch.where(known, grid, -1)
    y = torchs(images, grid, mode, padding, align_corners)
    if mode == 0 and padding == 0:
        y = torch.where(known.all(-1).unsqueeze(1), y, float("nan"))
    return y


def _multi_margin_loss(scores, target, p=1, margin=1, weight=None, reduction=1):
    """The kernel adds what is above 0, so NaN adds nothing. Torch's decomposition has a maximum, which
    keeps NaN."""
    scores, target = torch.atleast_2d(scores), torch.atleast_1d(target).unsqueeze(1)
    count = scores.shape[1]
    z = margin - scores.gather(1, target) + scores
    z = torch.where(z > 0, z if p == 1 else z * z, 0)
    if weight is not None:
        z = z * weight[target]
    z = torch.where(torch.arange(count, device=z.device) != target, z, 0)
    losses = z.sum(1) / count
    if reduction == 0:
        return losses
    return losses.mean() if reduction == 1 else losses.sum()


def _whole_upsampling(by_factors, original, images, size, align_corners, factors):
    """Keeps linear interpolation whole, as the importer knows it. If images require gradients, the
    original takes the operator apart, because gradients of interpolation have no handler."""
    if images.requires_grad:
        return original(images, size, align_corners, factors)
    size = upsample_compute_output_size(images.size(), size, factors)
    with torch._C._AutoDispatchBelowAutograd():
        return by_factors(images, size, align_corners, *(factors or [None] * len(size)))


def _rules():
    """Returns functions for operators that torch takes apart early. Each is given the original first."""
    upsampling = {aten.upsample_linear1d.vec: aten.upsample_linear1d.default,
                  aten.upsample_bilinear2d.vec: aten.upsample_bilinear2d.default,
                  aten.upsample_trilinear3d.vec: aten.upsample_trilinear3d.default}
    rules = {vec: functools.partial(_whole_upsampling, by_factors)
             for vec, by_factors in upsampling.items()}
    rules[aten.multi_margin_loss.default] = lambda original, *args, **kwargs: (
        _multi_margin_loss(*args, **kwargs))
    return rules


@functools.cache
def _replace_kernels():
    """Puts the rules before torch's kernels of Python, which still run outside of own_rules."""
    for target, rule in _rules().items():
        for key in (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd):
            original = target.py_kernels.get(key)
            if original is not None:
                target.py_kernels[key] = _chosen(rule, original)
        target._dispatch_cache.clear()


def _chosen(rule, original):
    def kernel(*args, **kwargs):
        if _tracing.get():
            return rule(original, *args, **kwargs)
        return original(*args, **kwargs)
    return kernel
