"""Decompositions for operators whose decomposition in torch differs from torch's kernels.

torch decomposes some operators before it reads a table, by Python kernels for the dispatch key
Autograd. Rules replace these kernels, but only while a graph is traced for tunec.
"""
import contextlib
import contextvars
import functools

import torch
from torch._C import DispatchKey
from torch._decomp import decomposition_table, get_decompositions
from torch._decomp.decompositions import upsample_compute_output_size

from .encoder_layers import layer_decompositions
from .recurrent import recurrent_decompositions, recurrent_rules

aten = torch.ops.aten

# True while a graph is traced for tunec.
_tracing = contextvars.ContextVar("tracing", default=False)

_NARROW = (torch.bfloat16, torch.float16)

# Resizing operators that the importer supports. torch's formulas for them turn infinity into NaN
# and read other elements than eager mode.
_NEAREST = ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
            "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d")
_LINEAR = ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d")


def own_decompositions():
    """Returns decomposition functions by operator. If a function returns NotImplemented, the
    operator is not decomposed."""
    table = {aten.addr.default: _addr, aten._softmax_backward_data.default: _softmax_backward,
             aten.grid_sampler_2d.default: _grid_sampler}
    table |= {overload: functools.partial(_linspace, overload)
              for overload in (aten.linspace.default, aten.linspace.Tensor_Tensor,
                               aten.linspace.Tensor_Scalar, aten.linspace.Scalar_Tensor)}
    return table | layer_decompositions() | recurrent_decompositions()


@contextlib.contextmanager
def own_rules():
    """Returns a context in which the rules apply, in the current thread."""
    _replace_kernels()
    token = _tracing.set(True)
    try:
        yield
    finally:
        _tracing.reset(token)


def _addr(addend, column, row, *, beta=1, alpha=1):
    """Multiplies the column by alpha before the product, as the kernel does: the product alone may
    overflow."""
    if not addend.is_floating_point():
        return decomposition_table[aten.addr.default](addend, column, row, beta=beta, alpha=alpha)
    product = (column if alpha == 1 else column * alpha).unsqueeze(1) * row
    return product if beta == 0 else addend * beta + product


def _softmax_backward(gradient, output, dim, input_dtype):
    """Subtracts the sum first and multiplies by the output last, as the kernel does."""
    wide, y = (x.float() if x.dtype in _NARROW else x for x in (gradient, output))
    total = (wide * y).sum(dim, keepdim=True)
    return ((wide - total) * y).to(input_dtype).contiguous()


def _linspace(overload, start, end, steps, *, dtype=None, **where):
    """Decomposes linspace, except for integer types: a step often falls on an integer, so the
    kernel's rounding decides which integer remains after truncation."""
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        return NotImplemented
    return decomposition_table[overload](start, end, steps, dtype=dtype, **where)


def _grid_sampler(images, grid, mode=0, padding=0, align_corners=False):
    """Computes positions of 16-bit images in float32: in bfloat16 they would be off by whole
    pixels."""
    if images.dtype not in _NARROW:
        return _sampled(images, grid, mode, padding, align_corners)
    wide = _sampled(images.float(), grid.float(), mode, padding, align_corners)
    return wide.to(images.dtype)


def _sampled(images, grid, mode, padding, align_corners):
    """Calls torch's decomposition, with the kernel's treatment of NaN. The kernel reads the first
    pixel for a position that is NaN after clipping. It returns NaN for such a position if padding
    does not clip."""
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
    """Adds only terms above 0, as the kernel does, so NaN adds nothing. torch's decomposition
    computes a maximum, which propagates NaN."""
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


def _stays_whole(images, *arguments):
    """Tests if resizing is imported as one operator. No handler supports resizing with gradients or
    with dynamic sizes."""
    sizes = [*images.shape, *(arguments[0] or ())]
    return not images.requires_grad and all(isinstance(size, int) for size in sizes)


def _resized(target, original, images, *arguments):
    """Prevents the decomposition of resizing, by dispatching below the key at which torch
    decomposes it."""
    if not _stays_whole(images, *arguments):
        return original(images, *arguments)
    with torch._C._AutoDispatchBelowAutograd():
        return target(images, *arguments)


def _resized_later(target, original, images, *arguments):
    """Prevents the decomposition of resizing if torch requests it: NotImplemented means that there
    is no decomposition."""
    return NotImplemented if _stays_whole(images, *arguments) else original(images, *arguments)


def _resized_by_factors(by_size, original, images, size, *arguments):
    """Resizes by size instead of by factors, to the size that the factors give. The factors are the
    last argument."""
    if not _stays_whole(images, size):
        return original(images, size, *arguments)
    *how, factors = arguments
    size = upsample_compute_output_size(images.size(), size, factors)
    return by_size(images, size, *how, *(factors or [None] * len(size)))


def _rules():
    """Yields (operator, key, rule) for operators that torch decomposes early. The original kernel
    is the first argument of a rule."""
    keys = (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd)
    for name in (*_NEAREST, *_LINEAR):
        whole, by_factors = getattr(aten, name).default, getattr(aten, name).vec
        yield whole, DispatchKey.Autograd, functools.partial(_resized, whole)
        yield whole, DispatchKey.CompositeImplicitAutograd, functools.partial(_resized_later, whole)
        for key in keys:
            yield by_factors, key, functools.partial(_resized_by_factors, whole)
    others = {aten.multi_margin_loss.default: lambda original, *args, **kwargs: (
        _multi_margin_loss(*args, **kwargs))}
    for target, rule in (others | recurrent_rules()).items():
        for key in keys:
            yield target, key, rule


@functools.cache
def _replace_kernels():
    """Wraps torch's Python kernels by the rules. Outside own_rules, the original kernels still
    run."""
    for target, key, rule in _rules():
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
