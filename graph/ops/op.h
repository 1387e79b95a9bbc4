// The operators, listed once. A Graph's operators are logical: names and meanings are the
// field's, shapes are static attributes (importers resolve shape arithmetic), layouts are no
// concern of theirs. op_table.cc gives each its inputs, attributes with defaults, type
// inference; reference/ gives each its meaning; lower/ its statements. A test compares the
// tables with this list.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tunec {

/// The field's taxonomy of nodes.
enum class OpKind : uint8_t { kCompute, kData, kShape, kControl, kMemory };

/// How an operator's output elements depend on its inputs' elements; fusion goes by this.
enum class OpPattern : uint8_t {
  kElementwise,  // same index after broadcasting
  kInjective,    // each output element from one input element by an index map
  kReduction,    // an associative combination over some axes
  kContraction,  // sums of products: matmul, convolutions
  kComposite,    // several statements: softmax, layer_norm, ...
  kOpaque,       // never fused
};

// clang-format off
// X(id, name, kind, pattern)
#define TUNEC_OPS(X)                                                                   \
  /* data */                                                                           \
  X(kInput, "input", kData, kOpaque)            X(kConstant, "constant", kData, kOpaque)         \
  /* elementwise, one operand */                                                       \
  X(kIdentity, "identity", kCompute, kElementwise) X(kNeg, "neg", kCompute, kElementwise)        \
  X(kAbs, "abs", kCompute, kElementwise)        X(kSign, "sign", kCompute, kElementwise)         \
  X(kNot, "not", kCompute, kElementwise)        X(kExp, "exp", kCompute, kElementwise)           \
  X(kLog, "log", kCompute, kElementwise)        X(kSqrt, "sqrt", kCompute, kElementwise)         \
  X(kRsqrt, "rsqrt", kCompute, kElementwise)    X(kReciprocal, "reciprocal", kCompute, kElementwise) \
  X(kTanh, "tanh", kCompute, kElementwise)      X(kErf, "erf", kCompute, kElementwise)           \
  X(kSin, "sin", kCompute, kElementwise)        X(kCos, "cos", kCompute, kElementwise)           \
  X(kTan, "tan", kCompute, kElementwise)        X(kAsin, "asin", kCompute, kElementwise)         \
  X(kAcos, "acos", kCompute, kElementwise)      X(kAtan, "atan", kCompute, kElementwise)         \
  X(kSinh, "sinh", kCompute, kElementwise)      X(kCosh, "cosh", kCompute, kElementwise)         \
  X(kAsinh, "asinh", kCompute, kElementwise)    X(kAcosh, "acosh", kCompute, kElementwise)       \
  X(kAtanh, "atanh", kCompute, kElementwise)    X(kFloor, "floor", kCompute, kElementwise)       \
  X(kCeil, "ceil", kCompute, kElementwise)      X(kRound, "round", kCompute, kElementwise)       \
  X(kIsNan, "isnan", kCompute, kElementwise)                                                     \
  X(kIsInf, "isinf", kCompute, kElementwise)    /* detect_negative=1 detect_positive=1 */        \
  X(kRelu, "relu", kCompute, kElementwise)                                                       \
  X(kLeakyRelu, "leaky_relu", kCompute, kElementwise)   /* alpha=0.01 */                         \
  X(kSigmoid, "sigmoid", kCompute, kElementwise) X(kSilu, "silu", kCompute, kElementwise)        \
  X(kGelu, "gelu", kCompute, kElementwise)      /* approximate="none"|"tanh" */                  \
  X(kElu, "elu", kCompute, kElementwise)        /* alpha=1 */                                    \
  X(kSelu, "selu", kCompute, kElementwise)      /* alpha, gamma: ONNX's */                       \
  X(kCelu, "celu", kCompute, kElementwise)      /* alpha=1 */                                    \
  X(kSoftplus, "softplus", kCompute, kElementwise) X(kSoftsign, "softsign", kCompute, kElementwise) \
  X(kHardSigmoid, "hard_sigmoid", kCompute, kElementwise) /* alpha=0.2 beta=0.5 */               \
  X(kHardSwish, "hard_swish", kCompute, kElementwise) X(kMish, "mish", kCompute, kElementwise)   \
  X(kThresholdedRelu, "thresholded_relu", kCompute, kElementwise) /* alpha=1 */                  \
  X(kClip, "clip", kCompute, kElementwise)      /* min=-inf max=inf (attributes) */              \
  X(kCast, "cast", kCompute, kElementwise)      /* to="f32" */                                   \
  /* elementwise with broadcasting (numpy's rule), operands of one type */              \
  X(kAdd, "add", kCompute, kElementwise)        X(kSub, "sub", kCompute, kElementwise)           \
  X(kMul, "mul", kCompute, kElementwise)        X(kDiv, "div", kCompute, kElementwise)           \
  X(kPow, "pow", kCompute, kElementwise)        X(kMin, "min", kCompute, kElementwise)           \
  X(kMax, "max", kCompute, kElementwise)                                                         \
  X(kMod, "mod", kCompute, kElementwise)        /* fmod=0: sign of the divisor */                \
  X(kAnd, "and", kCompute, kElementwise)        X(kOr, "or", kCompute, kElementwise)             \
  X(kXor, "xor", kCompute, kElementwise)        X(kShl, "shl", kCompute, kElementwise)           \
  X(kShr, "shr", kCompute, kElementwise)                                                         \
  X(kEq, "eq", kCompute, kElementwise)          X(kNe, "ne", kCompute, kElementwise)             \
  X(kLt, "lt", kCompute, kElementwise)          X(kLe, "le", kCompute, kElementwise)             \
  X(kGt, "gt", kCompute, kElementwise)          X(kGe, "ge", kCompute, kElementwise)             \
  X(kPrelu, "prelu", kCompute, kElementwise)                                                     \
  X(kWhere, "where", kCompute, kElementwise)    /* condition, then, else */                      \
  /* contractions */                                                                   \
  X(kMatmul, "matmul", kCompute, kContraction)  /* numpy's, batches broadcast; transpose_a=0 transpose_b=0 (last two axes) */ \
  X(kConv, "conv", kCompute, kContraction)      /* x[N,C,*] w[M,C/g,*] bias[M]?; strides pads(begins,ends) dilations group=1; 1 to 3 spatial axes */ \
  X(kConvTranspose, "conv_transpose", kCompute, kContraction) /* w[C,M/g,*]; and output_padding */ \
  X(kAttention, "attention", kCompute, kContraction) /* q[*,H,S,D] k[*,H/g,T,D] v[*,H/g,T,E] mask?; scale softcap=0 causal=0 causal_offset=0 empty_rows="nan"|"zero"; infer_attention.cc */ \
  /* reductions: axes, keepdims=1; argmax, argmin: axis, select_last_index=0 */         \
  X(kReduceSum, "reduce_sum", kCompute, kReduction)   X(kReduceMean, "reduce_mean", kCompute, kReduction) \
  X(kReduceMax, "reduce_max", kCompute, kReduction)   X(kReduceMin, "reduce_min", kCompute, kReduction)   \
  X(kReduceProd, "reduce_prod", kCompute, kReduction) X(kReduceL1, "reduce_l1", kCompute, kReduction)     \
  X(kReduceL2, "reduce_l2", kCompute, kReduction)     X(kReduceSumSquare, "reduce_sum_square", kCompute, kReduction) \
  X(kReduceLogSumExp, "reduce_log_sum_exp", kCompute, kComposite)                                 \
  X(kArgMax, "argmax", kCompute, kReduction)    X(kArgMin, "argmin", kCompute, kReduction)        \
  X(kMaxPool, "max_pool", kCompute, kReduction) /* kernel strides pads dilations (ceil_mode is resolved into pads) */ \
  X(kAveragePool, "average_pool", kCompute, kReduction) /* and count_include_pad=0 */             \
  X(kCumSum, "cumsum", kCompute, kReduction)    /* axis exclusive=0 reverse=0 */                  \
  /* normalisations */                                                                 \
  X(kBatchNorm, "batch_norm", kCompute, kElementwise) /* x scale bias mean variance; epsilon; axis 1 */ \
  X(kLayerNorm, "layer_norm", kCompute, kComposite)   /* x scale bias?; axis=-1 epsilon */        \
  X(kInstanceNorm, "instance_norm", kCompute, kComposite) /* x scale bias; epsilon */             \
  X(kGroupNorm, "group_norm", kCompute, kComposite)   /* x scale[C] bias[C]; groups epsilon */    \
  X(kRmsNorm, "rms_norm", kCompute, kComposite)       /* x scale; axis=-1 epsilon */              \
  X(kLrn, "lrn", kCompute, kComposite)          /* size alpha beta bias; axis 1 */                \
  X(kSoftmax, "softmax", kCompute, kComposite)  /* axis=-1 */                                     \
  X(kLogSoftmax, "log_softmax", kCompute, kComposite)                                             \
  /* pairs of elements, turned: each needs its partner */                               \
  X(kRotaryEmbedding, "rotary_embedding", kCompute, kInjective) /* x[*,D] cos sin, broadcast in front, their last axis an angle for each pair (at most D/2) or element; interleaved=0: pairs (i, i + pairs), 1: (2i, 2i+1) */ \
  /* data movement; kinds: shape when it only renames indices */                        \
  X(kTranspose, "transpose", kShape, kInjective)      /* perm */                                  \
  X(kReshape, "reshape", kShape, kInjective)          /* shape: all known, no -1 or 0 tricks */   \
  X(kExpand, "expand", kShape, kInjective)            /* shape: the output's */                   \
  X(kSlice, "slice", kShape, kInjective)              /* starts ends steps: one per axis, normalised, steps may be negative */ \
  X(kConcat, "concat", kShape, kInjective)            /* axis; any number of inputs */            \
  X(kPad, "pad", kShape, kInjective)                  /* pads(begins,ends; may be negative) value=0 mode="constant"|"reflect"|"edge"|"wrap" */ \
  X(kTile, "tile", kShape, kInjective)                /* repeats */                               \
  X(kGather, "gather", kShape, kInjective)            /* data indices; axis; negative indices count from the end */ \
  X(kGatherElements, "gather_elements", kShape, kInjective) /* data indices; axis */              \
  X(kResize, "resize", kCompute, kInjective)          /* shape, scales (double per axis), mode="nearest"|"linear"|"cubic" coordinate=ONNX's names nearest_mode cubic_a exclude_outside */ \
  X(kRange, "range", kData, kOpaque)                  /* start limit delta attributes (doubles), to */ \
  X(kOneHot, "one_hot", kCompute, kInjective)         /* indices; depth axis on_value off_value to */ \
  /* control and memory: parsed, printed, verified; executed later */                   \
  X(kIf, "if", kControl, kOpaque)               X(kWhile, "while", kControl, kOpaque)             \
  X(kScan, "scan", kControl, kOpaque)           X(kCopy, "copy", kMemory, kElementwise)           \
  X(kAlloc, "alloc", kMemory, kOpaque)          X(kFree, "free", kMemory, kOpaque)                \
  X(kToDevice, "to_device", kMemory, kOpaque)
// clang-format on

enum class Op : uint8_t {
#define TUNEC_ENUMERATOR(id, name, kind, pattern) id,
  TUNEC_OPS(TUNEC_ENUMERATOR)
#undef TUNEC_ENUMERATOR
};

std::string_view Name(Op op);
OpKind KindOf(Op op);
OpPattern PatternOf(Op op);
std::optional<Op> ParseOp(std::string_view name);

}  // namespace tunec
