"""A table of the operators that PyTorch calls core ATen, with the importer's treatment of each.

Each overload with the tag `core` has a row. `Done` operators have a handler. torch's decompositions
replace `Otherwise` operators with other operators. `Rejected` operators fail with a reason.
`Number` operators return numbers of shapes. `Done` and `Otherwise` have samples: functions of a
Sampler (samples.py) that return the arguments of one call.
"""
from dataclasses import dataclass, field

import torch

from samples import Sampler


@dataclass(frozen=True)
class Done:
    samples: list
    rejected_types: frozenset = frozenset()  # types that only eager PyTorch supports
    rough_types: frozenset = frozenset()  # not compared: rounding changes results


@dataclass(frozen=True)
class Otherwise(Done):
    pass


@dataclass(frozen=True)
class Rejected:
    reason: str  # a part of the message
    takes: str  # work that support would need
    samples: list = field(default_factory=list)


@dataclass(frozen=True)
class Number:
    """An operator that returns a number of a shape or strides, which is a constant when
    imported."""


def done(*samples, rejected=(), rough=()):
    return Done(list(samples), frozenset(rejected), frozenset(rough))


def otherwise(*samples, rejected=(), rough=()):
    return Otherwise(list(samples), frozenset(rejected), frozenset(rough))


def one(make="t"):
    """Returns a row with samples of one operand: a matrix, random sizes, and a scalar."""
    return done(lambda s: (getattr(s, make)(3, 5),),
                lambda s: (getattr(s, make)(s.size(), s.size(), s.size()),),
                lambda s: (getattr(s, make)(),))


def two(left="t", right="t", **kwargs):
    """Returns a row with samples of two operands that broadcast. Each keyword argument of the
    operator gives another sample."""
    def of(a, b, **given):
        return lambda s: (getattr(s, left)(*a), getattr(s, right)(*b), given)
    samples = [of((3, 4), (4,)), of((2, 1, 5), (3, 1)), of((), (2, 3)), of((0, 3), (3,))]
    return done(*samples, *(of((3, 4), (3, 4), **{k: v}) for k, v in kwargs.items()))


def with_number(*numbers, make="t"):
    def of(number):
        return lambda s: (getattr(s, make)(3, 5), number)
    return done(*(of(number) for number in numbers))


def reduced(*, dims=((0,), (1,), (0, 2), (-1,)), make="t", extra=()):
    """Returns a row with samples of reductions over lists of axes, with and without keepdim."""
    def of(dim, keepdim):
        return lambda s: (getattr(s, make)(3, 4, s.size(1, 4)), list(dim), keepdim)
    return done(*(of(dim, keepdim) for dim in dims for keepdim in (False, True)), *extra)


def along(*, make="t", dims=(0, 1, -1)):
    """Returns a row with samples of reductions over one axis, with and without keepdim."""
    def of(dim, keepdim):
        return lambda s: (getattr(s, make)(3, 4, s.size(1, 4)), dim, keepdim)
    return done(*(of(dim, keepdim) for dim in dims for keepdim in (False, True)))


def _mask_or_index(s):
    return [s.index(4, 3, negative=True), None, s.index(5, 3)]


def _convolution(s, axes, transposed=False, groups=1, **given):
    stride = [given.get("stride", 1)] * axes
    sizes = [7, 6, 5][:axes]
    weight = (4, 6 // groups, *[3] * axes) if transposed else (6, 4 // groups, *[3] * axes)
    out = [1 if transposed and stride[0] > 1 else 0] * axes
    return (s.t(2, 4, *sizes), s.t(*weight), s.t(6), stride, [given.get("padding", 1)] * axes,
            [given.get("dilation", 1)] * axes, transposed, out, groups)


def _convolution_backward(s, x, weight, stride=1, padding=0, dilation=1, groups=1, out=None,
                          output_mask=(True, True, True)):
    """Returns arguments of convolution_backward. `out` is the output padding of a transposed
    convolution, or None for an ordinary convolution."""
    axes, transposed = len(x) - 2, out is not None
    window = ([stride] * axes, [padding] * axes, [dilation] * axes, transposed,
              [out or 0] * axes, groups)
    y = torch.ops.aten.convolution(torch.empty(x), torch.empty(weight), None, *window)
    return (s.t(*y.shape), s.t(*x), s.t(*weight), [y.shape[1]], *window, list(output_mask))


def _pool_backward(s, shape, *window):
    """Returns arguments of the backward of a maximum pool, with the indices of a pool of distinct
    numbers. If windows overlap, several gradients are added to one element."""
    pool = torch.ops.aten.max_pool2d_with_indices.default
    y, indices = pool(Sampler(torch.float64, s.size(1, 99)).distinct(*shape), *window)
    return (s.t(*y.shape), s.t(*shape), *window, indices)


def _lowest(s, *shape):
    """Returns a tensor filled with -inf, or with 0 if the type has no fractions."""
    low = -torch.inf if s.dtype.is_floating_point else 0
    return torch.full(shape, low, dtype=s.dtype)


def _batch_norm(s, *flags):
    return (s.t(3, 4, 5), s.t(4), s.t(4), s.t(4), s.positive(4), *flags)


CORE = {
    "_adaptive_avg_pool2d.default": done(
        lambda s: (s.t(2, 3, 6, 8), [1, 1]), lambda s: (s.t(2, 3, 6, 8), [3, 4]),
        lambda s: (s.t(3, 7, 5), [3, 2])),
    "_adaptive_avg_pool2d_backward.default": done(
        lambda s: (s.t(2, 3, 3, 2), s.t(2, 3, 6, 4)), lambda s: (s.t(3, 3, 2), s.t(3, 7, 5)),
        lambda s: (s.t(1, 2, 7, 9), s.t(1, 2, 20, 24))),
    "_adaptive_avg_pool3d.default": done(
        lambda s: (s.t(2, 3, 4, 6, 5), [1, 1, 1]), lambda s: (s.t(2, 3, 4, 6, 5), [2, 4, 3])),
    "_cdist_forward.default": done(
        *(lambda s, p=p: (s.t(4, 3), s.t(5, 3), p, None) for p in (2.0, 1.0, 0.0, torch.inf, 3.5)),
        lambda s: (s.t(2, 4, 3), s.t(2, 5, 3), 2.0, 2), lambda s: (s.t(40, 8), s.t(30, 8), 2.0, 2),
        lambda s: (s.t(4, 0), s.t(5, 0), 2.0, None)),
    "_embedding_bag.default": done(
        lambda s: (s.t(9, 4), s.index(9, 7), torch.tensor([0, 3, 3, 5])),
        lambda s: (s.t(9, 4), s.index(9, 7), torch.tensor([0, 2, 4]), False, 1)),
    "_fft_c2r.default": Rejected(
        "complex", "complex values as pairs, then as _fft_r2c",
        [lambda s: (torch.fft.rfft(s.t(4, 8)), [1], 2, 8)]),
    "_fft_r2c.default": Rejected(
        "no operator of tunec",
        "complex values as pairs of numbers through the importer; Fourier matrices for short axes",
        [lambda s: (s.t(4, 8), [1], 0, True)]),
    "_local_scalar_dense.default": Rejected(
        "read from a tensor", "scalars of a graph that are outputs; torch reads them after the part",
        [lambda s: (s.t(),)]),
    "_log_softmax.default": done(lambda s: (s.t(3, 5), 1, False),
                                 lambda s: (s.t(3, 4, 5), 0, False)),
    "_native_batch_norm_legit.default": done(lambda s: _batch_norm(s, False, 0.1, 1e-5)),
    "_native_batch_norm_legit.no_stats": done(
        lambda s: (s.t(3, 4, 5), s.t(4), s.t(4), True, 0.1, 1e-5)),
    "_native_batch_norm_legit_no_training.default": done(lambda s: _batch_norm(s, 0.1, 1e-5)),
    "_pdist_forward.default": done(
        *(lambda s, p=p: (s.t(6, 3), p) for p in (2.0, 1.0, 0.0, torch.inf, 3.5)),
        lambda s: (s.t(1, 3), 2.0)),
    "_softmax.default": done(lambda s: (s.t(3, 5), 1, False), lambda s: (s.t(3, 4, 5), 0, False)),
    "_to_copy.default": done(*(lambda s, to=to: (s.t(3, 5), {"dtype": to}) for to in (
        torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
        torch.bool))),
    "abs.default": one(),
    "acos.default": one("unit"),
    "acosh.default": done(lambda s: (s.positive(3, 5) + 1,)),
    "adaptive_avg_pool1d.default": done(lambda s: (s.t(2, 3, 9), [3]),
                                        lambda s: (s.t(2, 3, 9), [4])),
    "add.Scalar": with_number(2, -1.5, True),
    "add.Tensor": two(alpha=2),
    "addmm.default": done(
        lambda s: (s.t(5), s.t(3, 4), s.t(4, 5)),
        lambda s: (s.t(3, 5), s.t(3, 4), s.t(4, 5), {"beta": 2, "alpha": 3}),
        lambda s: (s.t(5), s.t(3, 4), s.t(4, 5), {"beta": 0})),
    "alias.default": one(),
    "amax.default": reduced(),
    "amin.default": reduced(),
    "any.default": one(),
    "any.dim": along(),
    "any.dims": reduced(),
    "arange.start_step": done(lambda s: (2, 17, 3, {"dtype": s.dtype}), lambda s: (5, -3, -2)),
    "argmax.default": done(lambda s: (s.distinct(3, 4),), lambda s: (s.distinct(3, 4, 2), 1, True),
                           lambda s: (s.distinct(5, 2), 0)),
    "argmin.default": done(lambda s: (s.distinct(3, 4),), lambda s: (s.distinct(3, 4, 2), 1, True),
                           lambda s: (s.distinct(5, 2), 0)),
    "as_strided.default": done(lambda s: (s.t(4, 6), [3, 2], [6, 2], 1),
                               lambda s: (s.t(12), [3, 4], [4, 1]),
                               lambda s: (s.t(12), [5, 4], [1, 2])),
    "asin.default": one("unit"),
    "asinh.default": one(),
    "atan.default": one(),
    "atan2.default": two("special", "special"),
    "atan2.out": Rejected("no operator of tunec does this",
                         "nothing: AOTAutograd and export write it without `out`"),
    "atanh.default": one("unit"),
    "avg_pool1d.default": done(lambda s: (s.t(2, 3, 9), [3], [2], [1]), rejected=["i64"]),
    "avg_pool2d.default": done(
        lambda s: (s.t(2, 3, 7, 8), [3, 2], [2, 2], [1, 1]),
        lambda s: (s.t(2, 3, 7, 8), [3, 3], [2, 2], [1, 1], True, True),
        lambda s: (s.t(2, 3, 7, 8), [3, 3], [2, 2], [1, 1], True, False),
        lambda s: (s.t(3, 7, 8), [2, 2], [], [0, 0], False, False, 3), rejected=["i64"]),
    "avg_pool2d_backward.default": done(
        lambda s: (s.t(2, 3, 3, 3), s.t(2, 3, 6, 6), [2, 2], [2, 2], [0, 0], False, True, None),
        lambda s: (s.t(2, 3, 4, 4), s.t(2, 3, 7, 7), [3, 3], [2, 2], [1, 1], False, False, None),
        lambda s: (s.t(3, 4, 5), s.t(3, 7, 8), [3, 3], [2, 2], [1, 1], True, True, None),
        lambda s: (s.t(3, 3, 4), s.t(3, 7, 8), [2, 2], [2, 2], [0, 0], False, False, 3),
        lambda s: (s.t(1, 2, 12, 10), s.t(1, 2, 24, 20), [2, 2], [2, 2], [0, 0], False, True, None),
        rejected=["i64"]),
    "avg_pool3d.default": done(lambda s: (s.t(2, 3, 5, 7, 6), [2, 3, 2], [2, 2, 2], [1, 1, 0]),
                               rejected=["i64"]),
    "bitwise_and.Scalar": with_number(5, True),
    "bitwise_and.Tensor": two(),
    "bitwise_not.default": one(),
    "bitwise_or.Scalar": with_number(5, True),
    "bitwise_or.Tensor": two(),
    "bitwise_xor.Scalar": with_number(5, True),
    "bitwise_xor.Tensor": two(),
    "bmm.default": done(lambda s: (s.t(3, 4, 5), s.t(3, 5, 2))),
    "cat.default": done(lambda s: ([s.t(2, 3), s.t(4, 3)],), lambda s: ([s.t(2, 3), s.t(2, 1)], 1),
                        lambda s: ([s.t(0), s.t(2, 3), s.t(2, 2).double()], -1)),
    "ceil.default": one("halves"),
    "clamp.default": done(lambda s: (s.t(3, 5), -1, 2), lambda s: (s.t(3, 5), None, 1),
                          lambda s: (s.special(3, 5), -0.5, None), lambda s: (s.t(3, 5), 3, 1)),
    "clamp.Tensor": done(lambda s: (s.t(3, 5), s.t(5), s.t(3, 1)), lambda s: (s.t(3, 5), s.t(5)),
                         rejected=["bool"]),
    "clone.default": one(),
    "col2im.default": otherwise(lambda s: (s.t(2, 12, 4), [4, 5], [2, 2], [1, 1], [0, 0], [2, 2]),
                                rejected=["bool"]),
    "constant_pad_nd.default": done(lambda s: (s.t(3, 4), [1, 2]),
                                    lambda s: (s.t(3, 4), [0, 1, 2, 0], 3),
                                    lambda s: (s.t(3, 4, 5), [-1, 2, 0, -1], 1)),
    "convolution.default": done(
        lambda s: _convolution(s, 2), lambda s: _convolution(s, 2, stride=2, padding=0),
        lambda s: _convolution(s, 1, dilation=2), lambda s: _convolution(s, 3),
        lambda s: _convolution(s, 2, groups=2), lambda s: _convolution(s, 2, True, stride=2),
        lambda s: _convolution(s, 2, True, groups=2), lambda s: _convolution(s, 1, True)),
    "convolution_backward.default": done(
        lambda s: _convolution_backward(s, (2, 3, 6, 6), (2, 3, 3, 3)),
        lambda s: _convolution_backward(s, (2, 6, 6, 6), (4, 3, 3, 3), stride=2, padding=1,
                                        groups=2),
        lambda s: _convolution_backward(s, (2, 3, 9), (4, 3, 2), dilation=2,
                                        output_mask=[True, True, False]),
        # In the next four cases, the last window does not reach the end of x or of its padding.
        lambda s: _convolution_backward(s, (2, 3, 9, 8), (5, 3, 3, 2), stride=3, padding=1),
        lambda s: _convolution_backward(s, (2, 3, 8), (4, 3, 1), stride=2),
        lambda s: _convolution_backward(s, (1, 3, 1), (2, 3, 1), stride=5, padding=1),
        lambda s: _convolution_backward(s, (1, 2, 4, 5, 6), (3, 2, 3, 2, 1), stride=2, padding=1),
        lambda s: _convolution_backward(s, (2, 4, 7, 7), (8, 1, 3, 3), padding=1, groups=4),
        lambda s: _convolution_backward(s, (2, 3, 7, 7), (4, 3, 7, 7), stride=2, padding=3,
                                        output_mask=[False, True, False]),
        lambda s: _convolution_backward(s, (2, 4, 8, 7), (4, 2, 3, 3), stride=2, padding=2,
                                        dilation=2, groups=2, output_mask=[True, False, True]),
        lambda s: _convolution_backward(s, (2, 6, 4, 4), (6, 2, 3, 3), stride=2, padding=1,
                                        groups=2, out=1),
        lambda s: _convolution_backward(s, (2, 3, 5), (3, 4, 4), stride=3, padding=1, dilation=2,
                                        out=0)),
    "copy.default": done(lambda s: (s.t(3, 4), s.t(4)), lambda s: (s.t(3, 4), s.t(3, 4).float())),
    "cos.default": one(),
    "cosh.default": one(),
    "cumsum.default": done(lambda s: (s.t(3, 5), 1), lambda s: (s.t(3, 5, 2), 0),
                           lambda s: (s.t(), 0)),
    "diagonal.default": done(lambda s: (s.t(4, 5),), lambda s: (s.t(4, 5), -1),
                             lambda s: (s.t(3, 4, 5), 1, 2, 0), lambda s: (s.t(3, 4), 9)),
    "div.Scalar": with_number(2, -1.5),
    "div.Scalar_mode": done(*(lambda s, m=m, n=n: (s.t(3, 5), n, {"rounding_mode": m})
                              for m in ("floor", "trunc", None) for n in (3, -2))),
    "div.Tensor": two(right="nonzero"),
    "div.Tensor_mode": done(*(lambda s, m=m: (s.t(4, 5), s.nonzero(5), {"rounding_mode": m})
                              for m in ("floor", "trunc", None))),
    "elu.default": done(lambda s: (s.t(3, 5),), lambda s: (s.t(3, 5), 2, 1.5, 0.5)),
    "embedding.default": done(lambda s: (s.t(7, 4), s.index(7, 2, 3)),
                              lambda s: (s.t(7, 4), s.index(7))),
    "embedding_dense_backward.default": done(
        lambda s: (s.t(2, 3, 4), s.index(7, 2, 3), 7, -1, False),
        lambda s: (s.t(5, 4), s.index(7, 5), 7, 2, False), rejected=["bool"]),
    "empty.memory_format": done(lambda s: ([0, 3], {"dtype": s.dtype})),
    "empty_strided.default": done(lambda s: ([0, 3], [3, 1], {"dtype": s.dtype})),
    "eq.Scalar": with_number(2, 0.5, True),
    "eq.Tensor": two(),
    "erf.default": one(),
    "exp.default": one(),
    "expand.default": done(lambda s: (s.t(3, 1), [3, 4]), lambda s: (s.t(3, 1), [2, -1, 4])),
    "expm1.default": done(lambda s: (s.t(3, 5),), lambda s: (s.special(3, 5),),
                          lambda s: (s.t(3, 5) / 1000,)),
    "fill.Scalar": done(lambda s: (s.t(3, 4), 2), lambda s: (s.t(), 1)),
    "flip.default": done(lambda s: (s.t(3, 4), [0]), lambda s: (s.t(3, 4, 2), [-1, 0]),
                         lambda s: (s.t(3, 4), [])),
    "floor.default": one("halves"),
    "fmod.Scalar": with_number(3, -2.5),
    "fmod.Tensor": two(right="nonzero"),
    "full.default": done(lambda s: ([2, 3], 1, {"dtype": s.dtype}), lambda s: ([], 2.5)),
    "full_like.default": done(lambda s: (s.t(2, 3), 1),
                              lambda s: (s.t(2), 3, {"dtype": torch.float32})),
    "gather.default": done(lambda s: (s.t(4, 5), 0, s.index(4, 3, 2)),
                           lambda s: (s.t(4, 5, 2), -1, s.index(2, 4, 5, 7))),
    "ge.Scalar": with_number(2, 0.5),
    "ge.Tensor": two(),
    "gelu.default": done(lambda s: (s.t(3, 5),), lambda s: (s.t(3, 5), {"approximate": "tanh"})),
    "grid_sampler_2d.default": otherwise(
        lambda s: (s.t(2, 3, 5, 6), s.unit(2, 4, 4, 2), 0, 0, False),
        lambda s: (s.t(2, 3, 5, 6), s.unit(2, 4, 4, 2) * 2, 0, 1, True),
        lambda s: (s.t(2, 3, 5, 6), s.unit(2, 4, 4, 2), 1, 0, True), rough=["f16", "bf16"]),
    "gt.Scalar": with_number(2, 0.5),
    "gt.Tensor": two(),
    "hardtanh.default": done(lambda s: (s.t(3, 5),), lambda s: (s.t(3, 5), 0, 2)),
    "index.Tensor": done(
        lambda s: (s.t(4, 5), [s.index(4, 3, negative=True)]),
        lambda s: (s.t(4, 5, 3), [None, s.index(5, 2, 3)]),
        lambda s: (s.t(4, 5, 3), [s.index(4, 2, 1), s.index(5, 3)]),
        lambda s: (s.t(4, 2, 5), _mask_or_index(s)),
        lambda s: (s.t(2, 4, 5, 3), [None, s.index(4, 3), s.index(5, 3, negative=True)])),
    "index_put.default": done(
        lambda s: (s.t(6, 5), [s.distinct_index(6, 3)], s.t(3, 5)),
        lambda s: (s.t(6, 5), [None, s.distinct_index(5, 3)], s.t(3)),
        lambda s: (s.t(4, 3, 5), [s.distinct_index(4, 3), None, s.distinct_index(5, 3)], s.t(3, 1)),
        lambda s: (s.t(4, 5), [s.mask(4, 5)], s.t()),
        lambda s: (s.t(6, 5), [s.index(6, 9)], s.t(9, 5), s.dtype != torch.bool)),
    "index_select.default": done(lambda s: (s.t(4, 5), 1, s.index(5, 3)),
                                 lambda s: (s.t(4), 0, s.index(4, 6))),
    "isinf.default": one("special"),
    "isnan.default": one("special"),
    "le.Scalar": with_number(2, 0.5),
    "le.Tensor": two(),
    "leaky_relu.default": done(lambda s: (s.t(3, 5),), lambda s: (s.t(3, 5), 0.3)),
    "log.default": one("positive"),
    "log10.default": one("positive"),
    "log1p.default": done(lambda s: (s.positive(3, 5),), lambda s: (s.unit(3, 5) / 100,),
                          lambda s: (s.special(3, 5),)),
    "log2.default": one("positive"),
    "logical_and.default": two(),
    "logical_not.default": one(),
    "logical_or.default": two(),
    "logical_xor.default": two(),
    "lt.Scalar": with_number(2, 0.5),
    "lt.Tensor": two(),
    "masked_scatter.default": done(
        lambda s: (s.t(3, 4), s.mask(3, 4), s.t(12)), lambda s: (s.t(3, 4), s.mask(4), s.t(4, 5)),
        lambda s: (s.t(4), s.mask(3, 4), s.t(13)), lambda s: (s.t(0), s.mask(0), s.t(0))),
    "max.dim": along(make="distinct"),
    "max_pool2d_with_indices.default": done(
        lambda s: (s.distinct(2, 2, 7, 8), [3, 2], [2, 2], [1, 1]),
        lambda s: (s.distinct(2, 7, 8), [3, 3], [2, 2], [1, 1], [1, 2], True),
        lambda s: (s.special(1, 2, 6, 5), [3, 3], [2, 1], [1, 1]),
        lambda s: (s.t(1, 2, 6, 5) * 0, [3, 3], [2, 2], [1, 1], [2, 3]),
        lambda s: (_lowest(s, 1, 1, 6, 5), [3, 3], [2, 2], [1, 1], [2, 2])),
    "max_pool2d_with_indices_backward.default": done(
        lambda s: _pool_backward(s, (1, 2, 6, 6), [2, 2], [2, 2], [0, 0], [1, 1], False),
        lambda s: _pool_backward(s, (2, 3, 8, 9), [3, 3], [2, 2], [1, 1], [1, 1], False),
        lambda s: _pool_backward(s, (2, 8, 9), [3, 3], [2, 2], [1, 1], [1, 1], True),
        lambda s: _pool_backward(s, (1, 2, 7, 5), [3, 2], [1, 1], [1, 0], [1, 1], False),
        lambda s: _pool_backward(s, (1, 2, 9, 9), [2, 3], [3, 2], [0, 1], [2, 1], False),
        lambda s: _pool_backward(s, (1, 2, 8, 9), [2, 2], [3, 4], [0, 0], [1, 1], False),
        lambda s: _pool_backward(s, (1, 2, 9, 7), [5, 5], [1, 1], [2, 2], [1, 1], False),
        rejected=["i64", "i32", "i16", "i8", "u8"]),
    "max_pool3d_with_indices.default": done(
        lambda s: (s.distinct(1, 2, 4, 5, 4), [2, 2, 2], [2, 1, 2], [1, 0, 1])),
    "maximum.default": two("special"),
    "mean.default": one(),
    "mean.dim": reduced(),
    "min.dim": along(make="distinct"),
    "minimum.default": two("special"),
    "mm.default": done(lambda s: (s.t(3, 4), s.t(4, 5)),
                       lambda s: (s.t(s.size(), 7), s.t(7, s.size()))),
    "mul.Scalar": with_number(2, -1.5, True),
    "mul.Tensor": two(),
    "native_dropout.default": done(lambda s: (s.t(3, 5), 0.5, False)),
    "native_group_norm.default": done(
        lambda s: (s.t(2, 6, 5), s.t(6), s.t(6), 2, 6, 5, 3, 1e-5),
        lambda s: (s.t(2, 6, 4, 3), None, None, 2, 6, 12, 2, 1e-5)),
    "native_group_norm_backward.default": otherwise(
        lambda s: (s.t(2, 6, 5), s.t(2, 6, 5), s.t(2, 3), s.t(2, 3), s.t(6), 2, 6, 5, 3,
                   [True, True, True])),
    "native_layer_norm.default": done(
        lambda s: (s.t(3, 5), [5], s.t(5), s.t(5), 1e-5),
        lambda s: (s.t(3, 4, 5), [4, 5], None, None, 1e-5)),
    "native_layer_norm_backward.default": otherwise(
        lambda s: (s.t(3, 5), s.t(3, 5), [5], s.t(3, 1), s.t(3, 1), s.t(5), s.t(5),
                   [True, True, True])),
    "ne.Scalar": with_number(2, 0.5, True),
    "ne.Tensor": two(),
    "neg.default": one(),
    "nonzero.default": Rejected(
        "depends on values", "outputs of a largest shape with a count beside them",
        [lambda s: (s.t(3, 4),)]),
    "permute.default": done(lambda s: (s.t(2, 3, 4), [2, 0, 1]),
                            lambda s: (s.t(2, 3, 4), [-1, 1, 0])),
    "pow.Scalar": done(lambda s: (2, s.t(3, 5)), lambda s: (1.5, s.t(3, 5))),
    "pow.Tensor_Scalar": done(*(lambda s, n=n: (s.positive(3, 5), n)
                                for n in (2, 3, 0.5, -1, -1.5)),
                              lambda s: (s.t(3, 5), 2), lambda s: (s.t(3, 5), 3)),
    "pow.Tensor_Tensor": two("positive", "positive"),
    "prod.default": one("unit"),
    "prod.dim_int": along(make="unit"),
    "rand.default": Rejected(
        "random numbers", "a counter-based generator whose state is an input and an output; "
        "torch's own numbers would want its generator", [lambda s: ([2, 3],)]),
    "randn.default": Rejected("random numbers", "as rand", [lambda s: ([2, 3],)]),
    "randperm.default": Rejected("random numbers", "as rand, and a sort", [lambda s: (5,)]),
    "reciprocal.default": one("nonzero"),
    **{f"reflection_pad{n}d.default": done(lambda s, n=n: (s.t(2, *[5] * n), [1, 2] * n),
                                           lambda s, n=n: (s.t(2, 2, *[4] * n), [0, 3] * n))
       for n in (1, 2, 3)},
    "relu.default": one("special"),
    "remainder.Scalar": with_number(3, -2.5),
    "remainder.Tensor": two(right="nonzero"),
    "repeat.default": done(lambda s: (s.t(3, 2), [2, 3]), lambda s: (s.t(1, 2), [2, 4, 1])),
    **{f"replication_pad{n}d.default": done(lambda s, n=n: (s.t(2, 2, *[3] * n), [1, 2] * n))
       for n in (2, 3)},
    "resize_.default": Rejected("no operator of tunec does this",
                               "nothing: a graph without mutations has none"),
    "round.default": one("halves"),
    "rsqrt.default": one("positive"),
    "scalar_tensor.default": done(lambda s: (1, {"dtype": s.dtype})),
    "scatter.src": done(lambda s: (s.t(5, 4), 0, s.distinct_index(5, 3).reshape(3, 1), s.t(4, 2)),
                        lambda s: (s.t(2, 5), 1,
                                   torch.stack([s.distinct_index(5, 3) for _ in "ab"]),
                                   s.t(2, 3))),
    "scatter.value": done(lambda s: (s.t(5, 4), 0, s.index(5, 3, 2), 1)),
    "scatter_add.default": done(lambda s: (s.t(5, 4), 0, s.index(5, 6, 4), s.t(6, 4)),
                                lambda s: (s.t(2, 5), 1, s.index(5, 2, 3), s.t(3, 4)),
                                rejected=["bool"]),
    "scatter_reduce.two": done(
        *(lambda s, r=r, i=i: (s.t(5, 4), 0, s.index(5, 6, 4), s.t(6, 4), r, {"include_self": i})
          for r in ("sum", "prod", "mean", "amax", "amin") for i in (True, False)),
          rejected=["bool"]),
    "select.int": done(lambda s: (s.t(3, 4), 0, 1), lambda s: (s.t(3, 4, 2), -1, -1)),
    "select_scatter.default": done(lambda s: (s.t(3, 4), s.t(4), 0, 1),
                                   lambda s: (s.t(3, 4), s.t(3), 1, -1)),
    "sigmoid.default": one(),
    "sign.default": one("special"),
    "sin.default": one(),
    "sinh.default": one(),
    "slice.Tensor": done(lambda s: (s.t(7, 3), 0, 1, 6, 2), lambda s: (s.t(7, 3), 1, -2),
                         lambda s: (s.t(7, 3), 0, 5, 2), lambda s: (s.t(7,), 0, 0, 99)),
    "slice_scatter.default": done(
        lambda s: (s.t(7, 3), s.t(3, 3), 0, 2, 5), lambda s: (s.t(7, 3), s.t(3, 3), 0, 1, 6, 2),
        lambda s: (s.t(2, 5), s.t(2, 5), 1)),
    "sort.default": done(lambda s: (s.distinct(3, 7),), lambda s: (s.distinct(5, 4), 0, True),
                         lambda s: (s.orders(70, 90), 1), lambda s: (s.t(),), rough=["bool"]),
    "split_with_sizes.default": done(lambda s: (s.t(6, 3), [1, 2, 3]),
                                     lambda s: (s.t(2, 5), [5, 0], 1)),
    "sqrt.default": one("positive"),
    "squeeze.dim": done(lambda s: (s.t(3, 1), 1), lambda s: (s.t(3, 1), 0)),
    "squeeze.dims": done(lambda s: (s.t(1, 3, 1), [0, 2])),
    "sub.Scalar": with_number(2, -1.5),
    "sub.Tensor": two(alpha=2),
    "sum.dim_IntList": reduced(extra=[lambda s: (s.t(3, 4), None)]),
    **{f"sym_{name}": Number() for name in (
        "is_contiguous.default", "numel.default", "size.int", "storage_offset.default",
        "stride.int")},
    "tan.default": one("unit"),
    "tanh.default": one(),
    "topk.default": done(lambda s: (s.distinct(3, 7), 3), lambda s: (s.distinct(9, 4), 2, 0, False),
                         lambda s: (s.orders(9, 150), 9), rough=["bool"]),
    "trunc.default": one("halves"),
    "unsqueeze.default": done(lambda s: (s.t(3, 2), 1), lambda s: (s.t(3, 2), -1)),
    "upsample_bilinear2d.vec": done(
        lambda s: (s.t(2, 3, 4, 5), [7, 9], False, None),
        lambda s: (s.t(2, 3, 4, 5), None, True, [2.0, 1.5]),
        lambda s: (s.t(2, 3, 4, 5), None, False, [1.7, 2.0]), rejected=["u8"]),
    "upsample_nearest2d.vec": done(
        lambda s: (s.t(2, 3, 4, 5), [7, 9], None), lambda s: (s.t(2, 3, 4, 5), None, [2.0, 1.7])),
    "var.correction": done(lambda s: (s.t(3, 4, 5), [1]), lambda s: (s.t(3, 4, 5), None),
                           lambda s: (s.t(3, 4), [0], {"correction": 0, "keepdim": True})),
    "var.dim": done(lambda s: (s.t(3, 4, 5), [1]), lambda s: (s.t(3, 4), [0, 1], False, True)),
    "view.default": done(lambda s: (s.t(3, 4), [2, 6]), lambda s: (s.t(3, 4), [-1])),
    "where.self": done(lambda s: (s.mask(3, 4), s.t(3, 4), s.t(4)),
                       lambda s: (s.mask(3, 1), s.t(4), s.t(3, 4).double())),
}
