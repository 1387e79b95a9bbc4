"""Samples of the operators that have a handler and are not core ATen. These are composite operators
imported whole, operators of exports before decomposition, and results of decompositions. The form
is that of core_operators.py."""
import torch

from core_operators import CORE, along, done, one, two, with_number


def _norm(s, **kwargs):
    return (s.t(3, 4, 6), [6], s.t(6), kwargs)


def _heads(s, q=(2, 4, 5, 8), k=(2, 4, 7, 8)):
    return s.t(*q), s.t(*k), s.t(*k)


def _image(s, axes):
    return s.t(2, 3, *[4, 5, 3][:axes])


_CONV = {
    1: lambda s: (s.t(2, 4, 9), s.t(6, 2, 3), s.t(6), [2], [1], [1], 2),
    2: lambda s: (s.t(2, 4, 9, 8), s.t(6, 4, 3, 3), None, [1, 2], [1, 0], [2, 1], 1),
    3: lambda s: (s.t(1, 2, 5, 6, 4), s.t(3, 2, 3, 3, 3), s.t(3)),
}
_TRANSPOSED = {
    1: lambda s: (s.t(2, 4, 5), s.t(4, 3, 3), s.t(6), [2], [1], [1], 2),
    2: lambda s: (s.t(2, 4, 5, 4), s.t(4, 3, 3, 3), None, [1, 2], [1, 0], [0, 1], 1, [2, 1]),
    3: lambda s: (s.t(1, 2, 3, 4, 2), s.t(2, 3, 2, 2, 2), s.t(3)),
}
_INTEGERS = {"rough": ["f32", "f64", "f16", "bf16", "bool"]}


def _resized(axes, *more, rejected=()):
    size = [7, 9, 4][:axes]
    factors = [2.0, 1.7, 1.5][:axes]
    return {
        "vec": done(lambda s: (_image(s, axes), size, *more, None),
                    lambda s: (_image(s, axes), None, *more, factors), rejected=rejected),
        "default": done(lambda s: (_image(s, axes), size, *more), rejected=rejected),
    }


def _interpolated(axes):
    return _resized(axes, False, rejected=["u8"])


OTHERS = {
    **{f"__{op}__.Tensor": two() for op in ("and", "or", "xor")},
    **{f"__{op}__.Scalar": with_number(5) for op in ("and", "or", "xor")},
    **{f"{name}.Tensor": done(lambda s: (s.t(3, 4), s.index(4, 4).to(s.dtype)), **_INTEGERS)
       for name in ("__lshift__", "__rshift__", "bitwise_left_shift", "bitwise_right_shift")},
    **{f"{name}.{kind}": done(lambda s: (s.t(3, 4), 2), **_INTEGERS)
       for name, kind in (("__lshift__", "Scalar"), ("__rshift__", "Scalar"),
                          ("bitwise_left_shift", "Tensor_Scalar"),
                          ("bitwise_right_shift", "Tensor_Scalar"))},
    "_convolution.default": done(
        lambda s: (s.t(2, 4, 7), s.t(6, 4, 3), s.t(6), [1], [1], [1], False, [0], 1, False, False,
                   False, False)),
    "as_strided_scatter.default": done(
        lambda s: (s.t(4, 6), s.t(3, 2), [3, 2], [6, 2], 1), lambda s: (s.t(2, 3), s.t(2, 3), [2, 3], [3, 1]),
        lambda s: (s.t(12), s.t(2, 1, 3), [2, 1, 3], [3, 7, 1], 4),
        lambda s: (s.t(3, 1, 1), s.t(3, 1, 1), [3, 1, 1], [1, 3, 3], 0)),
    "_embedding_bag_forward_only.default": CORE["_embedding_bag.default"],
    "_fused_rms_norm.default": done(lambda s: (s.t(3, 6), [6], s.t(6), 1e-5),
                                    lambda s: (s.t(3, 4, 6), [4, 6], None, None)),
    "_grouped_mm.default": done(
        lambda s: (s.t(8, 16), s.t(3, 16, 32), torch.tensor([2, 2, 8], dtype=torch.int32))),
    "_native_batch_norm_legit_functional.default": done(
        lambda s: (s.t(3, 4, 5), s.t(4), s.t(4), s.t(4), s.positive(4), True, 0.1, 1e-5),
        lambda s: (s.t(3, 4, 5), s.t(4), s.t(4), s.t(4), s.positive(4), False, 0.1, 1e-5)),
    "_prelu_kernel.default": done(lambda s: (s.t(2, 3, 4), s.t(1, 3, 1))),
    "_reshape_alias.default": done(lambda s: (s.t(3, 4), [2, 6], [6, 1])),
    "_safe_softmax.default": done(
        lambda s: (torch.where(torch.tensor([[True], [False]]), s.t(2, 4), -torch.inf), -1)),
    "_scaled_dot_product_flash_attention_for_cpu.default": done(
        lambda s: (*_heads(s), 0.0, False), lambda s: (*_heads(s), 0.0, True),
        lambda s: (*_heads(s), 0.0, False, {"attn_mask": s.t(2, 1, 5, 7), "scale": 0.5})),
    "_unsafe_index.Tensor": CORE["index.Tensor"],
    "_unsafe_index_put.default": CORE["index_put.default"],
    "_unsafe_view.default": CORE["view.default"],
    **{f"adaptive_avg_pool{n}d.default": CORE[f"_adaptive_avg_pool{n}d.default"] for n in (2, 3)},
    "addmv.default": done(lambda s: (s.t(3), s.t(3, 4), s.t(4), {"beta": 2})),
    "all.default": one(),
    "all.dim": along(),
    "all.dims": done(lambda s: (s.t(3, 4, 2), [0, 2])),
    "arange.default": done(lambda s: (7,), lambda s: (2.5,)),
    "arange.start": done(lambda s: (2, 7, {"dtype": s.dtype})),
    "argsort.default": done(lambda s: (s.distinct(3, 7),), lambda s: (s.distinct(5, 4), 0, True)),
    **{f"atleast_{n}d.default": done(lambda s: (s.t(),), lambda s: (s.t(3),),
                                     lambda s: (s.t(3, 2),))
       for n in (1, 2, 3)},
    "baddbmm.default": done(lambda s: (s.t(2, 3, 5), s.t(2, 3, 4), s.t(2, 4, 5), {"alpha": 2})),
    "batch_norm.default": done(
        lambda s: (s.t(3, 4, 5), s.t(4), s.t(4), s.t(4), s.positive(4), False, 0.1, 1e-5, False),
        lambda s: (s.t(3, 4, 5), None, None, None, None, True, 0.1, 1e-5, False)),
    "broadcast_to.default": CORE["expand.default"],
    "celu.default": done(lambda s: (s.t(3, 5), 1.5)),
    "chunk.default": done(lambda s: (s.t(7, 3), 3), lambda s: (s.t(2, 6), 4, 1)),
    "clamp_max.Tensor": done(lambda s: (s.t(3, 5), s.t(5)), rejected=["bool"]),
    "clamp_max.default": done(lambda s: (s.t(3, 5), 1)),
    "clamp_min.Tensor": done(lambda s: (s.t(3, 5), s.t(5)), rejected=["bool"]),
    "clamp_min.default": done(lambda s: (s.t(3, 5), -1)),
    "concat.default": CORE["cat.default"],
    "contiguous.default": one(),
    **{f"conv{n}d.default": done(sample) for n, sample in _CONV.items()},
    **{f"conv_transpose{n}d.{'input' if n > 1 else 'default'}": done(sample)
       for n, sample in _TRANSPOSED.items()},
    "cumprod.default": done(lambda s: (s.unit(3, 5), 1), lambda s: (s.unit(4), 0)),
    "detach.default": one(),
    "diagonal_scatter.default": done(lambda s: (s.t(4, 5), s.t(4)),
                                     lambda s: (s.t(4, 5), s.t(3), -1),
                                     lambda s: (s.t(3, 4, 5), s.t(4, 3), 1, 0, 2)),
    "dot.default": done(lambda s: (s.t(7), s.t(7))),
    "dropout.default": done(lambda s: (s.t(3, 4), 0.5, False)),
    "empty_like.default": done(lambda s: (s.t(0, 3),)),
    "empty_permuted.default": done(lambda s: ([0, 3], [1, 0], {"dtype": s.dtype})),
    "exp2.default": one(),
    "expand_as.default": done(lambda s: (s.t(3, 1), s.t(2, 3, 4))),
    "eye.default": done(lambda s: (4, {"dtype": s.dtype})),
    "eye.m": done(lambda s: (3, 5, {"dtype": s.dtype})),
    "fill.Tensor": done(lambda s: (s.t(3, 4), s.t())),
    "fix.default": one("halves"),
    "flatten.using_ints": done(lambda s: (s.t(2, 3, 4), 1)),
    "floor_divide.Scalar": with_number(3, -2),
    "floor_divide.default": done(lambda s: (s.t(4, 5), s.nonzero(5))),
    "fmax.default": two("special", "special"),
    "fmin.default": two("special", "special"),
    "group_norm.default": done(lambda s: (s.t(2, 6, 4, 3), 3, s.t(6), s.t(6)),
                               lambda s: (s.t(2, 6, 5), 2)),
    "hardsigmoid.default": one(),
    "hardswish.default": one(),
    "histc.default": done(lambda s: (s.t(40), 7, -2, 2), lambda s: (s.t(3, 5), 4, 0, 3)),
    "index_add.default": done(lambda s: (s.t(5, 4), 0, s.index(5, 6), s.t(6, 4)),
                              lambda s: (s.t(3, 5), 1, s.index(5, 4), s.t(3, 4), {"alpha": 2}),
                              rejected=["bool"]),
    "index_copy.default": done(lambda s: (s.t(5, 4), 0, s.distinct_index(5, 3), s.t(3, 4)),
                               lambda s: (s.t(2, 6, 3), 1, s.distinct_index(6, 2), s.t(2, 2, 3))),
    "index_fill.int_Scalar": done(lambda s: (s.t(5, 4), 1, s.index(4, 2), 1)),
    "index_fill.int_Tensor": done(lambda s: (s.t(5, 4), 0, s.index(5, 2), s.t())),
    "index_reduce.default": done(
        *(lambda s, r=r: (s.t(5, 4), 0, s.index(5, 6), s.t(6, 4), r)
          for r in ("prod", "mean", "amax", "amin")), rejected=["bool"]),
    "kthvalue.default": done(lambda s: (s.distinct(3, 7), 3),
                             lambda s: (s.distinct(5, 4), 2, 0, True),
                             rough=["bool"]),
    "layer_norm.default": done(lambda s: (s.t(3, 4, 6), [6], s.t(6), s.t(6)),
                               lambda s: (s.t(3, 4, 6), [4, 6])),
    **{f"{name}.default": one() for name in ("lift", "lift_fresh", "lift_fresh_copy")},
    "linalg_vector_norm.default": done(
        *(lambda s, p=p: (s.t(3, 4, 5), p, [0, 2]) for p in (2, 1, 0, 3.0, torch.inf, -torch.inf)),
        lambda s: (s.t(3, 4), 2, None, True)),
    "linear.default": done(lambda s: (s.t(3, 4), s.t(5, 4), s.t(5)),
                           lambda s: (s.t(2, 3, 4), s.t(5, 4)),
                           lambda s: (s.t(2, 3, 4), s.t(5, 4), s.t(5)),
                           lambda s: (s.t(4), s.t(5, 4))),
    "linspace.default": done(lambda s: (4.3, 0, 50, {"dtype": s.dtype}),
                             lambda s: (1, 9, 200, {"dtype": s.dtype})),
    "log_softmax.int": done(lambda s: (s.t(3, 5), 0)),
    "logsumexp.default": done(lambda s: (s.t(3, 4, 5), [1, 2]), lambda s: (s.t(3, 4), [0], True)),
    "mT.default": done(lambda s: (s.t(2, 3, 4),)),
    "masked_fill.Scalar": done(lambda s: (s.t(3, 4), s.mask(4), 1)),
    "masked_fill.Tensor": done(lambda s: (s.t(3, 4), s.mask(3, 1), s.t())),
    "matmul.default": done(
        lambda s: (s.t(4), s.t(4)), lambda s: (s.t(4), s.t(2, 4, 3)),
        lambda s: (s.t(2, 3, 4), s.t(4)),
        lambda s: (s.t(2, 1, 3, 4), s.t(5, 4, 2)), lambda s: (s.t(3, 4), s.t(4, 5))),
    "max.default": one("special"),
    "max_pool1d.default": done(lambda s: (s.t(2, 3, 9), [3], [2], [1])),
    "max_pool2d.default": done(lambda s: (s.t(2, 3, 9, 8), [3, 2], [2, 2], [1, 1], [1, 1], True),
                               lambda s: (s.t(3, 9, 8), [3, 2])),
    "max_pool3d.default": done(lambda s: (s.t(2, 3, 5, 6, 7), [2, 3, 2])),
    "min.default": one("special"),
    "mish.default": one(),
    "movedim.int": done(lambda s: (s.t(2, 3, 4), 0, -1), lambda s: (s.t(2, 3, 4), 2, 0)),
    "mv.default": done(lambda s: (s.t(3, 4), s.t(4))),
    "narrow.default": done(lambda s: (s.t(5, 4), 0, 1, 3), lambda s: (s.t(5, 4), 1, -3, 2)),
    "native_batch_norm.default": done(
        lambda s: (s.t(3, 4, 5), s.t(4), s.t(4), None, None, True, 0.1, 1e-5),
        lambda s: (s.t(3, 4, 5), s.t(4), s.t(4), s.t(4), s.positive(4), False, 0.1, 1e-5)),
    "new_empty.default": done(lambda s: (s.t(2), [0, 3])),
    "new_empty_strided.default": done(lambda s: (s.t(2), [0, 3], [3, 1])),
    "new_full.default": done(lambda s: (s.t(2), [2, 3], 1)),
    "new_ones.default": done(lambda s: (s.t(2), [2, 3])),
    "new_zeros.default": done(lambda s: (s.t(2), [2, 3])),
    "numpy_T.default": done(lambda s: (s.t(3, 4),), lambda s: (s.t(2, 3, 4),)),
    "ones.default": done(lambda s: ([2, 3], {"dtype": s.dtype})),
    "ones_like.default": done(lambda s: (s.t(2, 3),)),
    "pixel_shuffle.default": done(lambda s: (s.t(2, 12, 3, 4), 2)),
    "pixel_unshuffle.default": done(lambda s: (s.t(2, 3, 6, 4), 2)),
    "positive.default": done(lambda s: (s.t(3, 5),)),
    "prelu.default": done(lambda s: (s.t(2, 3, 4), s.t(3)), lambda s: (s.t(3, 4), s.t(1))),
    "ravel.default": one(),
    "relu6.default": one(),
    "remainder.Scalar_Tensor": done(lambda s: (7, s.nonzero(3, 4))),
    "repeat_interleave.self_int": done(lambda s: (s.t(3, 2), 2, 0), lambda s: (s.t(3, 2), 3)),
    "replication_pad1d.default": done(lambda s: (s.t(2, 3, 4), [1, 2])),
    "reshape.default": CORE["view.default"],
    "reshape_as.default": done(lambda s: (s.t(3, 4), s.t(2, 6))),
    "rms_norm.default": done(_norm, lambda s: (s.t(3, 4, 6), [4, 6], None, 1e-3)),
    "roll.default": done(lambda s: (s.t(4, 5), [1, -2], [0, 1]), lambda s: (s.t(4, 5), [7])),
    "round.decimals": done(lambda s: (s.t(3, 5), {"decimals": 1}), rough=["f16", "bf16"]),
    "rsub.Scalar": done(lambda s: (s.t(3, 5), 2), lambda s: (s.t(3, 5), 2, 3)),
    "rsub.Tensor": two(alpha=2),
    "scaled_dot_product_attention.default": done(
        lambda s: _heads(s), lambda s: (*_heads(s), None, 0.0, True),
        lambda s: (*_heads(s), s.mask(5, 7)),
        lambda s: (*_heads(s), s.t(2, 1, 5, 7), {"scale": 0.3}),
        lambda s: (*_heads(s, k=(2, 2, 7, 8)), {"enable_gqa": True}),
        lambda s: _heads(s, (3, 5, 8), (3, 7, 8)), lambda s: _heads(s, (5, 8), (7, 8))),
    "scatter.reduce": done(lambda s: (s.t(5, 4), 0, s.index(5, 6, 4), s.t(6, 4), {"reduce": "add"}),
                           rejected=["bool"]),
    "scatter.value_reduce": done(lambda s: (s.t(5, 4), 0, s.index(5, 6, 4), 2,
                                            {"reduce": "multiply"}),
                                 rejected=["bool"]),
    "selu.default": one(),
    "sgn.default": one("special"),
    "silu.default": one(),
    "softmax.int": done(lambda s: (s.t(3, 5), 0), lambda s: (s.t(3, 5), -1, torch.float32)),
    "softplus.default": done(lambda s: (s.t(3, 5) * 10,), lambda s: (s.t(3, 5), 2, 1)),
    "sort.stable": done(lambda s: (s.t(3, 40), {"stable": True}),
                        lambda s: (s.t(40, 5), {"stable": True, "dim": 0, "descending": True})),
    "split.Tensor": done(lambda s: (s.t(7, 3), 3), lambda s: (s.t(2, 6), 2, 1)),
    "split.sizes": CORE["split_with_sizes.default"],
    "square.default": one(),
    "squeeze.default": done(lambda s: (s.t(1, 3, 1),)),
    "stack.default": done(lambda s: ([s.t(2, 3), s.t(2, 3)],), lambda s: ([s.t(2), s.t(2)], -1)),
    "std.correction": CORE["var.correction"],
    "std.dim": CORE["var.dim"],
    "std_mean.correction": CORE["var.correction"],
    "sum.default": one(),
    "swapaxes.default": done(lambda s: (s.t(2, 3, 4), 0, -1)),
    "swapdims.default": done(lambda s: (s.t(2, 3, 4), 0, 1)),
    "t.default": done(lambda s: (s.t(2, 3),), lambda s: (s.t(3),)),
    "take.default": done(lambda s: (s.t(3, 4), s.index(12, 2, 3, negative=True))),
    "threshold.default": done(lambda s: (s.special(3, 5), 0.5, 2)),
    "to.device": done(lambda s: (s.t(3), "cpu", torch.float64)),
    "to.dtype": done(lambda s: (s.t(3), torch.float64), lambda s: (s.t(3), torch.bool)),
    "to.dtype_layout": done(lambda s: (s.t(3), {"dtype": torch.int32})),
    "to.other": done(lambda s: (s.t(3), s.t(2).double())),
    "transpose.int": done(lambda s: (s.t(2, 3, 4), 0, -1), lambda s: (s.t(), 0, 0)),
    "tril.default": done(lambda s: (s.t(4, 5),), lambda s: (s.t(2, 4, 3), -1)),
    "triu.default": done(lambda s: (s.t(4, 5),), lambda s: (s.t(2, 4, 3), 1)),
    "true_divide.Tensor": two(right="nonzero"),
    "type_as.default": done(lambda s: (s.t(3), s.t(2).float())),
    "unbind.int": done(lambda s: (s.t(3, 4),), lambda s: (s.t(3, 2), 1)),
    "unflatten.int": done(lambda s: (s.t(6, 4), 0, [2, 3])),
    "unfold.default": done(lambda s: (s.t(9, 3), 0, 4, 2), lambda s: (s.t(2, 8), 1, 3, 3)),
    "var_mean.correction": CORE["var.correction"],
    "vdot.default": done(lambda s: (s.t(7), s.t(7))),
    "view.dtype": done(lambda s: (s.t(3, 4), {torch.int32: torch.uint32}.get(s.dtype, s.dtype))),
    "view_as.default": done(lambda s: (s.t(3, 4), s.t(2, 6))),
    "where.Scalar": done(lambda s: (s.mask(3, 4), 2, 3)),
    "where.ScalarOther": done(lambda s: (s.mask(3, 4), s.t(4), 2)),
    "where.ScalarSelf": done(lambda s: (s.mask(3, 4), 2, s.t(4))),
    "zeros.default": done(lambda s: ([2, 3], {"dtype": s.dtype})),
    "zeros_like.default": done(lambda s: (s.t(2, 3),)),
    **{f"{name}.{kind}": row for name, rows in {
        "upsample_nearest1d": _resized(1), "upsample_nearest2d": _resized(2),
        "upsample_nearest3d": _resized(3), "_upsample_nearest_exact1d": _resized(1),
        "_upsample_nearest_exact2d": _resized(2), "_upsample_nearest_exact3d": _resized(3),
        "upsample_linear1d": _interpolated(1), "upsample_bilinear2d": _interpolated(2),
        "upsample_trilinear3d": _interpolated(3), "upsample_bicubic2d": _interpolated(2),
    }.items() for kind, row in rows.items() if f"{name}.{kind}" not in CORE},
}

# Variants of view operators that return copies. Their samples are those of the view operators.
_COPIES = {"alias_copy.default": one(), "_reshape_copy.default": CORE["view.default"]}
for _name in ("as_strided.default", "detach.default", "diagonal.default", "expand.default",
              "permute.default", "select.int", "slice.Tensor", "split_with_sizes.default",
              "squeeze.default", "squeeze.dim", "squeeze.dims", "t.default", "transpose.int",
              "unbind.int", "unfold.default", "unsqueeze.default", "view.default"):
    _base, _overload = _name.split(".")
    _COPIES[f"{_base}_copy.{_overload}"] = (CORE | OTHERS)[_name]
OTHERS |= _COPIES

# Operators that have a handler but no samples. Only other devices or packages have them, or tests
# of whole models cover them.
ELSEWHERE = frozenset((
    "_scaled_dot_product_cudnn_attention.default",
    "_scaled_dot_product_efficient_attention.default",
    "_scaled_dot_product_flash_attention.default", "transformers::grouped_mm_fallback.default",
    "prims::convert_element_type.default",
    "_scaled_dot_product_flash_attention_for_cpu_backward.default"))
