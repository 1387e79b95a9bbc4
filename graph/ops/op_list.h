// The operators and their properties, one row each. A property may be a function: this file names
// the function, and the folder that uses the function defines it. Such a folder expands the rows
// into a table. A row with a missing property or an undefined name does not compile. The operators
// have ONNX's meaning unless stated otherwise. A comment before a row can list operands with their
// shapes (`?`: optional), then attributes, some with their defaults.
//
// The columns:
//   id, name   the enumerator of Op, and the word in the text form
//   kind       OpKind: the class of the operator
//   pattern    OpPattern: how results depend on operands; fusion uses the pattern
//   operands   number and types of the operands, and the attributes with defaults, in words of
//              ops/op_table.cc: Unary(kFloat, {Float("alpha", 1)})
//   cost       operations for an element of the result: cost/operation_cost.cc
//   repeats    how often a kernel computes an element of a fused operand:
//              cost/operation_cost.cc
//   rows       RowAxes: axes of the operator's rows; fusion can join nodes with the same rows
//   images     ImageUse: how the operator accesses images; the layout pass chooses storage orders
//              by it
//   range      bounds of the results: rules/value_range.cc
//   reference  the definition, Run...: reference/run.h; None: not executed
//   lowering   the statements, Lower...: lower/lower_node.h; None: no statements
//   padding    the rule for larger sizes, Pad...: pad/padder.h; None: dynamic shapes are not padded
#pragma once

// clang-format off

/// Pointwise operators: each result is computed from the broadcast operands at the same index.
/// lower/elementwise.cc makes the expression of the result.
#define TUNEC_POINTWISE(X, id, name, operands, cost, range, reference)                             \
  X(id, name, Compute, Elementwise, operands, cost, Spread, None, SameOrder, range, reference,     \
    Elementwise, Elementwise)

/// Operators with sums of products. They are never recomputed. Their results have no known range.
#define TUNEC_CONTRACTION(X, id, name, operands, repeats, images, reference, lowering, padding)    \
  X(id, name, Compute, Contraction, operands, 0, repeats, None, images, Any, reference, lowering,  \
    padding)

/// Operators that combine several elements, such as reductions, normalisations and pools.
#define TUNEC_OVER_ROWS(X, id, name, pattern, operands, cost, repeats, rows, images, range,        \
                        reference, lowering, padding)                                              \
  X(id, name, Compute, pattern, operands, cost, repeats, rows, images, range, reference, lowering, \
    padding)

/// Operators whose results depend on one or a few elements of the operands at mapped indices.
#define TUNEC_INJECTIVE(X, id, name, kind, operands, cost, repeats, images, range, reference,      \
                        lowering, padding)                                                         \
  X(id, name, kind, Injective, operands, cost, repeats, None, images, range, reference, lowering,  \
    padding)

/// Operators that are never fused with others.
#define TUNEC_OPAQUE(X, id, name, kind, operands, cost, range, reference, lowering, padding)       \
  X(id, name, kind, Opaque, operands, cost, Spread, None, AnyOrder, range, reference, lowering,    \
    padding)

// The table of all operators. Each row calls
// X(id, name, kind, pattern, operands, cost, repeats, rows, images, range, reference, lowering,
// padding).
#define TUNEC_OPS(X)                                                                               \
  /* data */                                                                                       \
  TUNEC_OPAQUE(X, kInput, "input", Data, Leaf(), 0, Any, None, None, None)                         \
  TUNEC_OPAQUE(X, kConstant, "constant", Data, Constant(), 0, Any, None, None, None)               \
  /* elementwise, one operand */                                                                   \
  TUNEC_POINTWISE(X, kIdentity,        "identity", Unary(kAny), 0, Chosen(First), Reshape)         \
  TUNEC_POINTWISE(X, kNeg,             "neg", Unary(kNumber), 1, Negative, Unary)                  \
  TUNEC_POINTWISE(X, kAbs,             "abs", Unary(kNumber), 1, Abs, Unary)                       \
  TUNEC_POINTWISE(X, kSign,            "sign", Unary(kNumber), 1, Any, Unary)                      \
  TUNEC_POINTWISE(X, kNot,             "not", Unary(kBits), 1, Any, Unary)                         \
  TUNEC_POINTWISE(X, kExp,             "exp", Unary(kFloat), kFunctionCost, Exp, Unary)            \
  TUNEC_POINTWISE(X, kLog,             "log", Unary(kFloat), kFunctionCost, Any, Unary)            \
  TUNEC_POINTWISE(X, kExpm1,           "expm1", Unary(kFloat), kFunctionCost, Any, Unary)          \
  TUNEC_POINTWISE(X, kLog1p,           "log1p", Unary(kFloat), kFunctionCost, Any, Unary)          \
  TUNEC_POINTWISE(X, kLog2,            "log2", Unary(kFloat), kFunctionCost, Any, Unary)           \
  TUNEC_POINTWISE(X, kLog10,           "log10", Unary(kFloat), kFunctionCost, Any, Unary)          \
  TUNEC_POINTWISE(X, kSqrt,            "sqrt", Unary(kFloat), kDivisionCost, Sqrt, Unary)          \
  TUNEC_POINTWISE(X, kRsqrt,           "rsqrt", Unary(kFloat), kDivisionCost, Any, Unary)          \
  TUNEC_POINTWISE(X, kReciprocal,      "reciprocal", Unary(kFloat), kDivisionCost, Any, Unary)     \
  TUNEC_POINTWISE(X, kTanh,            "tanh", Unary(kFloat), kFunctionCost, Symmetric, Unary)     \
  TUNEC_POINTWISE(X, kErf,             "erf", Unary(kFloat), kFunctionCost, Symmetric, Unary)      \
  TUNEC_POINTWISE(X, kSin,             "sin", Unary(kFloat), kFunctionCost, Wave, Unary)           \
  TUNEC_POINTWISE(X, kCos,             "cos", Unary(kFloat), kFunctionCost, Wave, Unary)           \
  TUNEC_POINTWISE(X, kTan,             "tan", Unary(kFloat), kFunctionCost, Any, Unary)            \
  TUNEC_POINTWISE(X, kAsin,            "asin", Unary(kFloat), kFunctionCost, Any, Unary)           \
  TUNEC_POINTWISE(X, kAcos,            "acos", Unary(kFloat), kFunctionCost, Any, Unary)           \
  TUNEC_POINTWISE(X, kAtan,            "atan", Unary(kFloat), kFunctionCost, Any, Unary)           \
  TUNEC_POINTWISE(X, kSinh,            "sinh", Unary(kFloat), kFunctionCost, Any, Unary)           \
  TUNEC_POINTWISE(X, kCosh,            "cosh", Unary(kFloat), kFunctionCost, Any, Unary)           \
  TUNEC_POINTWISE(X, kAsinh,           "asinh", Unary(kFloat), kFunctionCost, Any, Unary)          \
  TUNEC_POINTWISE(X, kAcosh,           "acosh", Unary(kFloat), kFunctionCost, Any, Unary)          \
  TUNEC_POINTWISE(X, kAtanh,           "atanh", Unary(kFloat), kFunctionCost, Any, Unary)          \
  TUNEC_POINTWISE(X, kFloor,           "floor", Unary(kFloat), 1, Any, Unary)                      \
  TUNEC_POINTWISE(X, kCeil,            "ceil", Unary(kFloat), 1, Any, Unary)                       \
  TUNEC_POINTWISE(X, kRound,           "round", Unary(kFloat), 1, Any, Unary)                      \
  TUNEC_POINTWISE(X, kIsNan,           "isnan", Predicate(), 1, Any, Unary)                        \
  TUNEC_POINTWISE(X, kIsInf,           "isinf",                                                    \
    Predicate({Int("detect_negative", 1), Int("detect_positive", 1)}), 1, Any, Unary)              \
  TUNEC_POINTWISE(X, kRelu,            "relu", Unary(kNumber), 1, Chosen(Relu), Unary)             \
  /* alpha=0.01 */                                                                                 \
  TUNEC_POINTWISE(X, kLeakyRelu,       "leaky_relu", Alpha(0.01), 2, Any, Unary)                   \
  TUNEC_POINTWISE(X, kSigmoid,         "sigmoid", Unary(kFloat), kFunctionCost, Unit, Unary)       \
  TUNEC_POINTWISE(X, kSilu,            "silu", Unary(kFloat), kFunctionCost, Any, Unary)           \
  /* approximate="none"|"tanh" */                                                                  \
  TUNEC_POINTWISE(X, kGelu,            "gelu", Gelu(), kFunctionCost, Any, Unary)                  \
  /* alpha=1 */                                                                                    \
  TUNEC_POINTWISE(X, kElu,             "elu", Alpha(1), kFunctionCost, Any, Unary)                 \
  /* ONNX's alpha and gamma */                                                                     \
  TUNEC_POINTWISE(X, kSelu,            "selu",                                                     \
    Unary(kFloat, {Float("alpha", 1.67326319217681884765625),                                      \
                   Float("gamma", 1.05070102214813232421875)}), kFunctionCost, Any, Unary)         \
  /* alpha=1 */                                                                                    \
  TUNEC_POINTWISE(X, kCelu,            "celu", Alpha(1), kFunctionCost, Any, Unary)                \
  TUNEC_POINTWISE(X, kSoftplus,        "softplus", Unary(kFloat), kFunctionCost, Any, Unary)       \
  TUNEC_POINTWISE(X, kSoftsign,        "softsign", Unary(kFloat), kDivisionCost, Any, Unary)       \
  TUNEC_POINTWISE(X, kHardSigmoid,     "hard_sigmoid",                                             \
    Unary(kFloat, {Float("alpha", 0.2), Float("beta", 0.5)}), 4, Unit, Unary)                      \
  TUNEC_POINTWISE(X, kHardSwish,       "hard_swish", Unary(kFloat), 4, Any, Unary)                 \
  TUNEC_POINTWISE(X, kMish,            "mish", Unary(kFloat), kFunctionCost, Any, Unary)           \
  /* alpha=1 */                                                                                    \
  TUNEC_POINTWISE(X, kThresholdedRelu, "thresholded_relu", Alpha(1), 2, Any, Unary)                \
  TUNEC_POINTWISE(X, kClip,            "clip",                                                     \
    Unary(kNumber, {Float("min", -kInfinity), Float("max", kInfinity)}), 2, Clip, Unary)           \
  /* to, such as "f32" */                                                                          \
  TUNEC_POINTWISE(X, kCast,            "cast", Cast(), 1, Cast, Cast)                              \
  /* elementwise with broadcasting (numpy's rule), operands of one type except in `where` */       \
  TUNEC_POINTWISE(X, kAdd,             "add", Binary(kNumber), 1, Sum, Binary)                     \
  TUNEC_POINTWISE(X, kSub,             "sub", Binary(kNumber), 1, Difference, Binary)              \
  TUNEC_POINTWISE(X, kMul,             "mul", Binary(kNumber), 1, Product, Binary)                 \
  TUNEC_POINTWISE(X, kDiv,             "div", Binary(kNumber), kDivisionCost, Any, Binary)         \
  TUNEC_POINTWISE(X, kPow,             "pow", Binary(kNumber), kFunctionCost, Any, Binary)         \
  TUNEC_POINTWISE(X, kMin,             "min", Binary(kNumber), 1, Chosen(Least), Binary)           \
  TUNEC_POINTWISE(X, kMax,             "max", Binary(kNumber), 1, Chosen(Greatest), Binary)        \
  /* fmod=0: sign of the divisor */                                                                \
  TUNEC_POINTWISE(X, kMod,             "mod",                                                      \
    Binary(kNumber, {Int("fmod", 0)}), kDivisionCost, Remainder, Binary)                           \
  TUNEC_POINTWISE(X, kAnd,             "and", Binary(kBits), 1, Any, Binary)                       \
  TUNEC_POINTWISE(X, kOr,              "or", Binary(kBits), 1, Any, Binary)                        \
  TUNEC_POINTWISE(X, kXor,             "xor", Binary(kBits), 1, Any, Binary)                       \
  TUNEC_POINTWISE(X, kShl,             "shl", Binary(kInteger), 1, Any, Binary)                    \
  TUNEC_POINTWISE(X, kShr,             "shr", Binary(kInteger), 1, Any, Binary)                    \
  TUNEC_POINTWISE(X, kEq,              "eq", Comparison(kAny), 1, Any, Comparison)                 \
  TUNEC_POINTWISE(X, kNe,              "ne", Comparison(kAny), 1, Any, Comparison)                 \
  TUNEC_POINTWISE(X, kLt,              "lt", Comparison(kNumber), 1, Any, Comparison)              \
  TUNEC_POINTWISE(X, kLe,              "le", Comparison(kNumber), 1, Any, Comparison)              \
  TUNEC_POINTWISE(X, kGt,              "gt", Comparison(kNumber), 1, Any, Comparison)              \
  TUNEC_POINTWISE(X, kGe,              "ge", Comparison(kNumber), 1, Any, Comparison)              \
  TUNEC_POINTWISE(X, kPrelu,           "prelu", Prelu(), 2, Any, Binary)                           \
  /* condition (bool), then, else */                                                               \
  TUNEC_POINTWISE(X, kWhere,           "where", Where(), 1, Chosen(Branches), Where)               \
  /* contractions */                                                                               \
  /* numpy's matmul, batches broadcast; transpose_a=0 transpose_b=0 (last two axes) */             \
  TUNEC_CONTRACTION(X, kMatmul, "matmul", Matmul(),                                                \
    Spread, AnyOrder, Matmul, Matmul, Matmul)                                                      \
  /* x[N,C,*] w[M,C/g,*] bias[M]?; strides pads(begins,ends) dilations group=1; 1 to 3 spatial     \
     axes */                                                                                       \
  TUNEC_CONTRACTION(X, kConv, "conv", Conv(),                                                      \
    ConvWindows, Convolution, Conv, Conv, Conv)                                                    \
  /* operands and attributes of conv, but w[C,M/g,*]; output_padding */                            \
  TUNEC_CONTRACTION(X, kConvTranspose, "conv_transpose", ConvTranspose(),                          \
    Spread, Convolution, Conv, ConvTranspose, ConvTranspose)                                       \
  /* q[*,H,S,D] k[*,H/g,T,D] v[*,H/g,T,E] mask?; scale softcap=0 causal=0 causal_offset=0          \
     window=0 hidden=-inf empty_rows="nan"|"zero"; infer_attention.cc */                           \
  TUNEC_CONTRACTION(X, kAttention, "attention", Attention(),                                       \
    Spread, AnyOrder, Attention, Attention, Attention)                                             \
  /* reductions: axes, keepdims=1; argmax, argmin: axis=0 keepdims=1 select_last_index=0 */        \
  TUNEC_OVER_ROWS(X, kReduceSum, "reduce_sum", Reduction, Reduction(kNumber),                      \
    kRowCost, Passes<1>, Axes, AnyOrder, Any, Reduction, Reduce, Reduction)                        \
  TUNEC_OVER_ROWS(X, kReduceMean, "reduce_mean", Reduction, Reduction(kNumber),                    \
    kRowCost, Passes<1>, Axes, AnyOrder, Any, Reduction, Reduce, Reduction)                        \
  TUNEC_OVER_ROWS(X, kReduceMax, "reduce_max", Reduction, Reduction(kNumber),                      \
    kRowCost, Passes<1>, Axes, AnyOrder, Chosen(Extreme), Reduction, Reduce, Reduction)            \
  TUNEC_OVER_ROWS(X, kReduceMin, "reduce_min", Reduction, Reduction(kNumber),                      \
    kRowCost, Passes<1>, Axes, AnyOrder, Chosen(Extreme), Reduction, Reduce, Reduction)            \
  TUNEC_OVER_ROWS(X, kReduceProd, "reduce_prod", Reduction, Reduction(kNumber),                    \
    kRowCost, Passes<1>, Axes, AnyOrder, Any, Reduction, Reduce, Reduction)                        \
  TUNEC_OVER_ROWS(X, kReduceL1, "reduce_l1", Reduction, Reduction(kNumber),                        \
    kRowCost, Passes<1>, Axes, AnyOrder, Any, Reduction, Reduce, Reduction)                        \
  TUNEC_OVER_ROWS(X, kReduceL2, "reduce_l2", Reduction, Reduction(kNumber),                        \
    kRowCost, Passes<1>, Axes, AnyOrder, Any, Reduction, Reduce, Reduction)                        \
  TUNEC_OVER_ROWS(X, kReduceSumSquare, "reduce_sum_square", Reduction, Reduction(kNumber),         \
    kRowCost, Passes<1>, Axes, AnyOrder, Any, Reduction, Reduce, Reduction)                        \
  TUNEC_OVER_ROWS(X, kReduceLogSumExp, "reduce_log_sum_exp", Composite, Reduction(kFloat),         \
    kRowCost, Passes<2>, Axes, AnyOrder, Any, Reduction, LogSumExp, Reduction)                     \
  TUNEC_OVER_ROWS(X, kArgMax, "argmax", Reduction, Arg(),                                          \
    kRowCost, Passes<1>, Axis, AnyOrder, Positions, Arg, ArgReduce, Arg)                           \
  TUNEC_OVER_ROWS(X, kArgMin, "argmin", Reduction, Arg(),                                          \
    kRowCost, Passes<1>, Axis, AnyOrder, Positions, Arg, ArgReduce, Arg)                           \
  /* kernel strides pads dilations (ceil_mode is resolved into pads) */                            \
  TUNEC_OVER_ROWS(X, kMaxPool, "max_pool", Reduction, MaxPool(),                                   \
    kRowCost, Windows, None, Pool, Any, Pool, MaxPool, Pool)                                       \
  /* attributes of max_pool; count_include_pad=0 */                                                \
  TUNEC_OVER_ROWS(X, kAveragePool, "average_pool", Reduction, AveragePool(),                       \
    kRowCost, Windows, None, Pool, Any, Pool, AveragePool, Pool)                                   \
  /* axis exclusive=0 reverse=0 */                                                                 \
  TUNEC_OVER_ROWS(X, kCumSum, "cumsum", Reduction, CumSum(),                                       \
    kRowCost, Passes<1>, None, AnyOrder, Any, CumSum, CumSum, CumSum)                              \
  /* normalisations */                                                                             \
  /* x scale bias mean variance; epsilon; axis 1 */                                                \
  X(kBatchNorm, "batch_norm", Compute, Elementwise, ChannelNorm(5), 2 * kDivisionCost + 7,         \
    Spread, None, SameOrder, Any, BatchNorm, BatchNorm, BatchNorm)                                 \
  /* x scale bias?; axis=-1 epsilon */                                                             \
  TUNEC_OVER_ROWS(X, kLayerNorm, "layer_norm", Composite, AxisNorm(3),                             \
    kRowCost, Passes<3>, FromAxis, AnyOrder, Any, AxisNorm, LayerNorm, AxisNorm)                   \
  /* x scale bias; epsilon */                                                                      \
  TUNEC_OVER_ROWS(X, kInstanceNorm, "instance_norm", Composite, ChannelNorm(3),                    \
    kRowCost, Passes<3>, FromSpatial, AnyOrder, Any, InstanceNorm, InstanceNorm, ChannelNorm)      \
  /* x scale[C] bias[C]; groups epsilon */                                                         \
  TUNEC_OVER_ROWS(X, kGroupNorm, "group_norm", Composite, GroupNorm(),                             \
    kRowCost, Passes<3>, None, AnyOrder, Any, InstanceNorm, GroupNorm, ChannelNorm)                \
  /* x scale; axis=-1 epsilon */                                                                   \
  TUNEC_OVER_ROWS(X, kRmsNorm, "rms_norm", Composite, AxisNorm(2),                                 \
    kRowCost, Passes<2>, FromAxis, AnyOrder, Any, AxisNorm, RmsNorm, AxisNorm)                     \
  /* size alpha beta bias; axis 1 */                                                               \
  TUNEC_OVER_ROWS(X, kLrn, "lrn", Composite, Lrn(),                                                \
    2 * kFunctionCost, Neighbours, None, Neighbours, Any, Lrn, Lrn, ChannelNorm)                   \
  /* axis=-1 */                                                                                    \
  TUNEC_OVER_ROWS(X, kSoftmax, "softmax", Composite, AlongAxis(),                                  \
    kRowCost, Passes<2>, Axis, AnyOrder, Softmax, Softmax, Softmax, Softmax)                       \
  TUNEC_OVER_ROWS(X, kLogSoftmax, "log_softmax", Composite, AlongAxis(),                           \
    kRowCost, Passes<3>, Axis, AnyOrder, Any, Softmax, Softmax, Softmax)                           \
  /* rotated pairs of elements: each element needs its partner */                                  \
  /* x[*,D], cos and sin [*,P] or [*,D] for P <= D/2 pairs; their leading axes are broadcast;      \
     interleaved=0: pairs (i, i + P), 1: pairs (2i, 2i+1) */                                       \
  TUNEC_INJECTIVE(X, kRotaryEmbedding, "rotary_embedding", Compute, RotaryEmbedding(),             \
    4, Pairs, AnyOrder, Any, RotaryEmbedding, RotaryEmbedding, Rotary)                             \
  /* data movement; kind Shape: each result is a copied element or pad's value */                  \
  /* perm */                                                                                       \
  TUNEC_INJECTIVE(X, kTranspose, "transpose", Shape, Transpose(),                                  \
    0, Spread, Renamed, Chosen(First), Movement, Transpose, Transpose)                             \
  /* shape: all sizes are known, without ONNX's special values -1 and 0 */                         \
  TUNEC_INJECTIVE(X, kReshape, "reshape", Shape, Reshape(),                                        \
    0, Spread, Renamed, Chosen(First), Reshape, Reshape, Reshape)                                  \
  /* shape: the output's shape */                                                                  \
  TUNEC_INJECTIVE(X, kExpand, "expand", Shape, Expand(),                                           \
    0, Spread, AnyOrder, Chosen(First), Movement, Expand, Expand)                                  \
  /* starts ends steps: one per axis, normalised, steps may be negative */                         \
  TUNEC_INJECTIVE(X, kSlice, "slice", Shape, Slice(),                                              \
    0, Spread, SameOrder, Chosen(First), Movement, Slice, Slice)                                   \
  /* axis; one or more inputs */                                                                   \
  TUNEC_INJECTIVE(X, kConcat, "concat", Shape, Concat(),                                           \
    1, Once, SameOrder, Chosen(Parts), Concat, Concat, Concat)                                     \
  /* pads(begins,ends; may be negative) value=0 mode="constant"|"reflect"|"edge"|"wrap" */         \
  TUNEC_INJECTIVE(X, kPad, "pad", Shape, Pad(),                                                    \
    1, Once, SameOrder, Any, Movement, Pad, Pad)                                                   \
  /* repeats */                                                                                    \
  TUNEC_INJECTIVE(X, kTile, "tile", Shape, Tile(),                                                 \
    1, Spread, AnyOrder, Chosen(First), Movement, Tile, Tile)                                      \
  /* data indices; axis; negative indices count from the end */                                    \
  TUNEC_INJECTIVE(X, kGather, "gather", Shape, Gather(),                                           \
    2, Spread, AnyOrder, Chosen(First), Gather, Gather, Gather)                                    \
  /* data indices; axis */                                                                         \
  TUNEC_INJECTIVE(X, kGatherElements, "gather_elements", Shape, GatherElements(),                  \
    2, Spread, AnyOrder, Chosen(First), GatherElements, GatherElements, GatherElements)            \
  /* data indices updates; axis, depth=1: an index is the flattened (row-major) index of `depth`   \
     data axes from `axis` on; updates have one axis for these; indices broadcast to updates;      \
     reduction="none"|"add"|"mul"|"min"|"max"; negative indices count from the end */              \
  X(kScatter, "scatter", Compute, Scatter, Scatter(), 1,                                           \
    Once, None, AnyOrder, Any, Scatter, Scatter, Scatter)                                          \
  /* shape, scales (double per axis), mode="nearest"|"linear"|"cubic" coordinate=ONNX's names      \
     nearest_mode cubic_a exclude_outside */                                                       \
  TUNEC_INJECTIVE(X, kResize, "resize", Compute, Resize(),                                         \
    OfResize, Spread, SameOrder, Any, Resize, Resize, Resize)                                      \
  /* start limit delta attributes (doubles), to */                                                 \
  TUNEC_OPAQUE(X, kRange, "range", Data, Range(), 1, Steps, Range, Range, Range)                   \
  /* indices; depth axis on_value off_value to */                                                  \
  TUNEC_INJECTIVE(X, kOneHot, "one_hot", Compute, OneHot(),                                        \
    4, Spread, AnyOrder, Any, OneHot, OneHot, OneHot)                                              \
  /* control operators (parsed, printed and verified, but not executed), memory operators */       \
  TUNEC_OPAQUE(X, kIf, "if", Control, Control(InferIf), 0, Any, None, None, None)                  \
  TUNEC_OPAQUE(X, kWhile, "while", Control, Control(InferWhile), 0, Any, None, None, None)         \
  TUNEC_OPAQUE(X, kScan, "scan", Control, Scan(), 0, Any, None, None, None)                        \
  X(kCopy, "copy", Memory, Elementwise, Unary(kAny), 0,                                            \
    Spread, None, SameOrder, Chosen(First), Reshape, Elementwise, Elementwise)                     \
  TUNEC_OPAQUE(X, kAlloc, "alloc", Memory, Alloc(), 0, Any, Alloc, None, None)                     \
  TUNEC_OPAQUE(X, kFree, "free", Memory, Free(), 0, Any, Free, None, None)                         \
  TUNEC_OPAQUE(X, kToDevice, "to_device", Memory, ToDevice(), 0, Any, Reshape, None, None)
// clang-format on
