// Programs for many kinds of operators, with sizes that most tiles do not divide.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tests/programs/products.h"
#include "tests/programs/rows.h"

namespace tunec::test {

struct Program {
  std::string_view name;
  std::string_view text;
};

/// A list of program texts, which are std::string or std::string_view constants.
using ProgramTexts = std::initializer_list<std::string_view>;

inline const std::string kMatmul = ProductText({});

inline const std::string kWeightMatmul =
    ProductText({.rows = 19,
                 .columns = 37,
                 .right = {.index = "j, k", .weight = "constant"},
                 .bias = "input",
                 .value = "acc[i, j] + b[j]"});

inline const std::string kTransposedMatmul = ProductText({.rows = 23,
                                                          .columns = 37,
                                                          .length = 11,
                                                          .left = {.index = "k, i"},
                                                          .right = {.index = "j, k"},
                                                          .value = "acc[i, j]"});

// A product whose left operand another statement computes.
inline constexpr std::string_view kComputedOperand = R"(compute computed_operand {
  input A: f32[3, 19, 29]
  input scale: f32[29]
  weight B: f32[29, 37] constant
  output C: f32[3, 19, 37]
  workspace operand: f32[3, 19, 29]
  workspace acc: f32[3, 19, 37]
  operand[b: 3, i: 19, k: 29]:
    operand[b, i, k] = max(A[b, i, k] * scale[k], 0.0)
  acc[b: 3, i: 19, j: 37, k: 29 reduction]:
    acc[b, i, j] sum= operand[b, i, k] * B[k, j]
  C[b: 3, i: 19, j: 37]:
    C[b, i, j] = acc[b, i, j] + 1.0
}
)";

// A product whose left operand and results are stored as bfloat16.
inline const std::string kBf16Matmul = ProductText({.columns = 41,
                                                    .left = {.type = "bf16"},
                                                    .right = {.weight = "constant"},
                                                    .result = "bf16",
                                                    .value = "bf16(max(acc[i, j], 0.0))"});

inline const std::string kBatchedMatmul = ProductText(
    {.rows = 7, .columns = 21, .length = 11, .batch = 3, .value = "acc[h, i, j] * 0.5"});

inline const std::string kVectorMatrix =
    ProductText({.rows = 1, .columns = 37, .right = {.weight = "constant"}, .value = "acc[i, j]"});

inline constexpr std::string_view kConv3x3 = R"(compute conv3x3 {
  input X: f32[1, 3, 7, 9] layout [1, 7, 9, 3] (n, c, h, w) -> [n, h, w, c]
  weight W: f32[19, 3, 3, 3] constant
  input bias: f32[19]
  output Y: f32[1, 19, 7, 9] layout [1, 7, 9, 19] (n, c, h, w) -> [n, h, w, c]
  workspace acc: f32[1, 19, 7, 9]
  acc[n: 1, m: 19, oh: 7, ow: 9, ic: 3 reduction, kh: 3 reduction, kw: 3 reduction] where oh + kh - 1 >= 0, 7 - oh - kh >= 0, ow + kw - 1 >= 0, 9 - ow - kw >= 0:
    acc[n, m, oh, ow] sum= X[n, ic, oh + kh - 1, ow + kw - 1] * W[m, ic, kh, kw]
  Y[n: 1, m: 19, oh: 7, ow: 9]:
    Y[n, m, oh, ow] = max(acc[n, m, oh, ow] + bias[m], 0.0)
}
)";

inline constexpr std::string_view kStridedConv = R"(compute strided_conv {
  input X: f32[2, 2, 9, 9]
  weight W: f32[17, 2, 3, 3] constant
  output Y: f32[2, 17, 5, 5]
  workspace acc: f32[2, 17, 5, 5]
  acc[n: 2, m: 17, oh: 5, ow: 5, ic: 2 reduction, kh: 3 reduction, kw: 3 reduction]:
    acc[n, m, oh, ow] sum= (X[n, ic, 2*oh + kh - 1, 2*ow + kw - 1] where (2*oh + kh - 1 >= 0, 9 - 2*oh - kh >= 0, 2*ow + kw - 1 >= 0, 9 - 2*ow - kw >= 0) else 0.0) * W[m, ic, kh, kw]
  Y[n: 2, m: 17, oh: 5, ow: 5]:
    Y[n, m, oh, ow] = acc[n, m, oh, ow]
}
)";

inline constexpr std::string_view kDilatedGroupedConv = R"(compute dilated_grouped_conv {
  input X: f32[1, 6, 9, 9]
  weight W: f32[10, 3, 3, 3] constant
  output Y: f32[1, 10, 9, 9]
  workspace acc: f32[1, 10, 9, 9]
  acc[n: 1, g: 2, m: 5, oh: 9, ow: 9, ic: 3 reduction, kh: 3 reduction, kw: 3 reduction] where oh + 2*kh - 2 >= 0, 10 - oh - 2*kh >= 0, ow + 2*kw - 2 >= 0, 10 - ow - 2*kw >= 0:
    acc[n, 5*g + m, oh, ow] sum= X[n, 3*g + ic, oh + 2*kh - 2, ow + 2*kw - 2] * W[5*g + m, ic, kh, kw]
  Y[n: 1, m: 10, oh: 9, ow: 9]:
    Y[n, m, oh, ow] = acc[n, m, oh, ow]
}
)";

inline constexpr std::string_view kDepthwise = R"(compute depthwise {
  input X: f32[1, 19, 9, 9] layout [1, 9, 9, 19] (n, c, h, w) -> [n, h, w, c]
  weight W: f32[19, 1, 3, 3] constant
  output Y: f32[1, 19, 9, 9] layout [1, 9, 9, 19] (n, c, h, w) -> [n, h, w, c]
  workspace acc: f32[1, 19, 9, 9]
  acc[n: 1, c: 19, oh: 9, ow: 9, kh: 3 reduction, kw: 3 reduction] where oh + kh - 1 >= 0, 9 - oh - kh >= 0, ow + kw - 1 >= 0, 9 - ow - kw >= 0:
    acc[n, c, oh, ow] sum= X[n, c, oh + kh - 1, ow + kw - 1] * W[c, 0, kh, kw]
  Y[n: 1, c: 19, oh: 9, ow: 9]:
    Y[n, c, oh, ow] = min(max(acc[n, c, oh, ow], 0.0), 6.0)
}
)";

inline constexpr std::string_view kPointwiseConv = R"(compute pointwise_conv {
  input X: f32[63, 13]
  weight W: f32[21, 13] constant
  input R: f32[63, 21]
  output Y: f32[63, 21]
  workspace acc: f32[63, 21]
  workspace sum: f32[63, 21]
  acc[p: 63, m: 21, c: 13 reduction]:
    acc[p, m] sum= X[p, c] * W[m, c]
  sum[p: 63, m: 21]:
    sum[p, m] = acc[p, m] + R[p, m]
  Y[p: 63, m: 21]:
    Y[p, m] = max(sum[p, m], 0.0)
}
)";

inline constexpr std::string_view kGroupedConv = R"(compute grouped_conv {
  input X: f32[1, 46, 5, 7] layout [1, 5, 7, 46] (n, c, h, w) -> [n, h, w, c]
  weight W: f32[46, 23, 1, 1] constant
  weight bias: f32[46] constant
  output Y: f32[1, 46, 5, 7] layout [1, 5, 7, 46] (n, c, h, w) -> [n, h, w, c]
  workspace acc: f32[1, 2, 23, 5, 7]
  acc[g: 2, m: 23, oh: 5, ow: 7, ic: 23 reduction]:
    acc[0, g, m, oh, ow] sum= X[0, 23*g + ic, oh, ow] * W[23*g + m, ic, 0, 0]
  Y[g: 2, m: 23, oh: 5, ow: 7]:
    Y[0, 23*g + m, oh, ow] = acc[0, g, m, oh, ow] + bias[23*g + m]
}
)";

inline constexpr std::string_view kMaxPool = R"(compute max_pool {
  input X: f32[1, 11, 9, 9] layout [1, 9, 9, 11] (n, c, h, w) -> [n, h, w, c]
  output Y: f32[1, 11, 5, 5] layout [1, 5, 5, 11] (n, c, h, w) -> [n, h, w, c]
  workspace acc: f32[1, 11, 5, 5]
  acc[n: 1, c: 11, oh: 5, ow: 5, kh: 3 reduction, kw: 3 reduction]:
    acc[n, c, oh, ow] max= (X[n, c, 2*oh + kh - 1, 2*ow + kw - 1] where (2*oh + kh - 1 >= 0, 9 - 2*oh - kh >= 0, 2*ow + kw - 1 >= 0, 9 - 2*ow - kw >= 0) else -inf)
  Y[n: 1, c: 11, oh: 5, ow: 5]:
    Y[n, c, oh, ow] = acc[n, c, oh, ow]
}
)";

inline const std::string kSoftmax = SoftmaxText(7, 37);

inline const std::string kOneRowSoftmax = SoftmaxText(1, 37);

inline constexpr std::string_view kLayerNorm = R"(compute layernorm {
  input X: f32[7, 29]
  input G: f32[29]
  output Y: f32[7, 29]
  workspace t: f32[7]
  workspace mean: f32[7]
  workspace d: f32[7, 29]
  workspace v: f32[7]
  t[i: 7, j: 29 reduction]:
    t[i] sum= X[i, j]
  mean[i: 7]:
    mean[i] = t[i] * 0.03448276
  d[i: 7, j: 29]:
    d[i, j] = X[i, j] - mean[i]
  v[i: 7, j: 29 reduction]:
    v[i] sum= d[i, j] * d[i, j]
  Y[i: 7, j: 29]:
    Y[i, j] = d[i, j] / sqrt(v[i] * 0.03448276 + 0.00001) * G[j]
}
)";

inline constexpr std::string_view kSumLast = R"(compute sum_last {
  input X: f32[5, 37]
  output Y: f32[5]
  Y[i: 5, j: 37 reduction]:
    Y[i] sum= X[i, j]
}
)";

inline constexpr std::string_view kSumFirst = R"(compute sum_first {
  input X: f32[13, 37]
  output Y: f32[37]
  workspace acc: f32[37]
  acc[j: 37, i: 13 reduction]:
    acc[j] sum= X[i, j]
  Y[j: 37]:
    Y[j] = acc[j] * 0.0625
}
)";

inline constexpr std::string_view kMaxMiddle = R"(compute max_middle {
  input X: f32[3, 13, 21]
  output Y: f32[3, 21]
  workspace acc: f32[3, 21]
  acc[b: 3, j: 21, i: 13 reduction]:
    acc[b, j] max= X[b, i, j]
  Y[b: 3, j: 21]:
    Y[b, j] = acc[b, j]
}
)";

// A softmax over a middle axis. Consecutive elements in memory belong to different rows.
inline constexpr std::string_view kMiddleSoftmax = R"(compute middle_softmax {
  input X: f32[3, 11, 83]
  output Y: f32[3, 11, 83]
  workspace m: f32[3, 83]
  workspace e: f32[3, 11, 83]
  workspace s: f32[3, 83]
  m[b: 3, j: 83, i: 11 reduction]:
    m[b, j] max= X[b, i, j]
  e[b: 3, i: 11, j: 83]:
    e[b, i, j] = exp(X[b, i, j] - m[b, j])
  s[b: 3, j: 83, i: 11 reduction]:
    s[b, j] sum= e[b, i, j]
  Y[b: 3, i: 11, j: 83]:
    Y[b, i, j] = e[b, i, j] / s[b, j]
}
)";

inline constexpr std::string_view kMiddleArgMax = R"(compute middle_argmax {
  input X: f32[3, 11, 83]
  output P: i64[3, 83] range [0, 10]
  workspace v: f32[3, 83]
  workspace p: i64[3, 83] range [0, 10]
  S[b: 3, j: 83, k: 11 reduction]:
    (v[b, j], p[b, j]) argmax= (X[b, k, j], index_i64(k))
  P[b: 3, j: 83]:
    P[b, j] = p[b, j]
}
)";

// A normalisation over the first two axes, for each position of the last axis.
inline constexpr std::string_view kOuterNorm = R"(compute outer_norm {
  input X: f32[3, 5, 83]
  input G: f32[3, 5]
  output Y: f32[3, 5, 83]
  workspace t: f32[83]
  workspace m: f32[83]
  workspace q: f32[83]
  t[j: 83, b: 3 reduction, i: 5 reduction]:
    t[j] sum= X[b, i, j]
  m[j: 83]:
    m[j] = t[j] / 15.0
  q[j: 83, b: 3 reduction, i: 5 reduction]:
    q[j] sum= (X[b, i, j] - m[j]) * (X[b, i, j] - m[j])
  Y[b: 3, i: 5, j: 83]:
    Y[b, i, j] = (X[b, i, j] - m[j]) * G[b, i] / sqrt(q[j] + 1.0)
}
)";

inline constexpr std::string_view kSumAll = R"(compute sum_all {
  input X: f32[5, 37]
  output Y: f32[]
  Y[i: 5 reduction, j: 37 reduction]:
    Y[] sum= X[i, j]
}
)";

inline constexpr std::string_view kBroadcastChain = R"(compute broadcast_chain {
  input X: f32[5, 7, 37]
  input B: f32[37]
  input S: f32[5, 1, 1]
  output Y: f32[5, 7, 37]
  workspace t: f32[5, 7, 37]
  t[i: 5, j: 7, k: 37]:
    t[i, j, k] = X[i, j, k] + B[k]
  Y[i: 5, j: 7, k: 37]:
    Y[i, j, k] = max(t[i, j, k], 0.0) * S[i, 0, 0]
}
)";

inline constexpr std::string_view kUniformChain = R"(compute uniform_chain {
  input X: f32[5, 7, 37]
  input Z: f32[5, 7, 37]
  output Y: f32[5, 7, 37]
  Y[i: 5, j: 7, k: 37]:
    Y[i, j, k] = X[i, j, k] * 2.0 + Z[i, j, k]
}
)";

inline constexpr std::string_view kTranspose = R"(compute transpose {
  input X: f32[13, 3, 37]
  output Y: f32[37, 13, 3]
  Y[i: 37, j: 13, k: 3]:
    Y[i, j, k] = X[j, k, i]
}
)";

inline constexpr std::string_view kConcat = R"(compute concat {
  input A: f32[7, 13]
  input B: f32[7, 24]
  output Y: f32[7, 37]
  Y[i: 7, j: 37]:
    Y[i, j] = select(holds(12 - j >= 0), (A[i, j] where (12 - j >= 0) else 0.0), (B[i, j - 13] where (j - 13 >= 0) else 0.0))
}
)";

inline constexpr std::string_view kTurned = R"(compute turned {
  input A: f32[39, 2, 45]
  output Y: f32[2, 45, 39]
  Y[n: 2, i: 45, j: 39]:
    Y[n, i, j] = max(A[j, n, i], 0.0)
}
)";

inline const std::string kGather = GatherText(13, 11, 37);

inline const std::string kArgMax = ArgMaxText(6, 37);

inline constexpr std::string_view kCausal = R"(compute causal {
  input A: f32[17, 19]
  input B: f32[17, 19]
  output C: f32[17, 17]
  workspace acc: f32[17, 17]
  acc[i: 17, j: 17, k: 19 reduction] where i - j >= 0:
    acc[i, j] sum= A[i, k] * B[j, k]
  C[i: 17, j: 17]:
    C[i, j] = (acc[i, j] where (i - j >= 0) else 0.0)
}
)";

// Attention in the form of graph/lower/attention.cc, with one KV block. The number of rows is not a
// multiple of a vector's length.
inline constexpr std::string_view kAttention = R"(compute attention {
  input Q: f32[3, 13, 5]
  input K: f32[3, 29, 5]
  input V: f32[3, 29, 7]
  input M: f32[13, 29]
  output Y: f32[3, 13, 7]
  workspace q: f32[3, 13, 5]
  workspace s: f32[3, 29, 13]
  workspace x: f32[3, 29, 13]
  workspace m: f32[3, 13]
  workspace p: f32[3, 29, 13]
  workspace l: f32[3, 13]
  workspace z: f32[3, 13]
  workspace o: f32[3, 13, 7]
  q[h: 3, r: 13, k: 5]:
    q[h, r, k] = Q[h, r, k] * 0.5
  s[h: 3, t: 29, r: 13, k: 5 reduction]:
    s[h, t, r] sum= q[h, r, k] * K[h, t, k]
  x[h: 3, t: 29, r: 13]:
    x[h, t, r] = s[h, t, r] + M[r, t]
  m[h: 3, r: 13, t: 29 reduction]:
    m[h, r] "max"= x[h, t, r]
  p[h: 3, t: 29, r: 13]:
    p[h, t, r] = exp(x[h, t, r] - select(lt(-inf, m[h, r]), m[h, r], 0.0))
  l[h: 3, r: 13, t: 29 reduction]:
    l[h, r] sum= p[h, t, r]
  z[h: 3, r: 13]:
    z[h, r] = 1.0 / l[h, r]
  o[h: 3, r: 13, e: 7, t: 29 reduction]:
    o[h, r, e] sum= p[h, t, r] * V[h, t, e]
  Y[h: 3, r: 13, e: 7]:
    Y[h, r, e] = o[h, r, e] * z[h, r]
}
)";

// Attention with blocks of 8 rows and KV blocks of 16 columns. The last KV block is partial. KV
// blocks that a causal mask hides from a whole block of rows are left out.
inline constexpr std::string_view kStreamedAttention = R"(compute streamed_attention {
  input Q: f32[2, 19, 5]
  input K: f32[2, 37, 5]
  input V: f32[2, 37, 7]
  output Y: f32[2, 19, 7]
  workspace q: f32[2, 3, 8, 5]
  workspace s: f32[2, 3, 3, 16, 8]
  workspace x: f32[2, 3, 3, 16, 8]
  workspace top: f32[2, 3, 3, 8]
  workspace m: f32[2, 3, 3, 8]
  workspace p: f32[2, 3, 3, 16, 8]
  workspace a: f32[2, 3, 3, 8]
  workspace sum: f32[2, 3, 3, 8]
  workspace l: f32[2, 3, 8]
  workspace z: f32[2, 3, 8]
  workspace w: f32[2, 3, 3, 8, 7]
  workspace o: f32[2, 3, 8, 7]
  q[h: 2, qb: 3, r: 8, k: 5]:
    q[h, qb, r, k] = (Q[h, 8*qb + r, k] where (18 - 8*qb - r >= 0) else 0.0) * 0.5
  s[h: 2, qb: 3, c: 3 sequential, t: 16, r: 8, k: 5 reduction] where 36 - 16*c - t >= 0, 8*qb - 16*c + 22 >= 0:
    s[h, qb, c, t, r] sum= q[h, qb, r, k] * K[h, 16*c + t, k]
  x[h: 2, qb: 3, c: 3 sequential, t: 16, r: 8] where 36 - 16*c - t >= 0, 8*qb - 16*c + 22 >= 0:
    x[h, qb, c, t, r] = select(holds(8*qb - 16*c - t + r + 15 >= 0), s[h, qb, c, t, r], -inf)
  top[h: 2, qb: 3, c: 3 sequential, r: 8, t: 16 reduction] where 36 - 16*c - t >= 0, 8*qb - 16*c + 22 >= 0:
    top[h, qb, c, r] "max"= x[h, qb, c, t, r]
  m[h: 2, qb: 3, c: 3 sequential, r: 8] where 8*qb - 16*c + 22 >= 0:
    m[h, qb, c, r] = max(top[h, qb, c, r], (m[h, qb, c - 1, r] where (c - 1 >= 0) else -inf))
  p[h: 2, qb: 3, c: 3 sequential, t: 16, r: 8] where 36 - 16*c - t >= 0, 8*qb - 16*c + 22 >= 0:
    p[h, qb, c, t, r] = exp(x[h, qb, c, t, r] - select(lt(-inf, m[h, qb, c, r]), m[h, qb, c, r], 0.0))
  a[h: 2, qb: 3, c: 3 sequential, r: 8] where 8*qb - 16*c + 22 >= 0:
    @0 = m[h, qb, c, r]
    @1 = m[h, qb, c - 1, r] where (c - 1 >= 0) else -inf
    a[h, qb, c, r] = exp(@1 - select(lt(-inf, @0), @0, 0.0))
  sum[h: 2, qb: 3, c: 3 sequential, r: 8, t: 16 reduction] where 36 - 16*c - t >= 0, 8*qb - 16*c + 22 >= 0:
    sum[h, qb, c, r] sum= p[h, qb, c, t, r]
  l[h: 2, qb: 3, c: 3 sequential, r: 8] where 8*qb - 16*c + 22 >= 0:
    @0 = sum[h, qb, c, r]
    @1 = a[h, qb, c, r]
    @2 = l[h, qb, r] where (c - 1 >= 0) else 0.0
    l[h, qb, r] = @2 * @1 + @0
  z[h: 2, qb: 3, r: 8]:
    z[h, qb, r] = 1.0 / l[h, qb, r]
  w[h: 2, qb: 3, c: 3 sequential, r: 8, e: 7, t: 16 reduction] where 36 - 16*c - t >= 0, 8*qb - 16*c + 22 >= 0:
    w[h, qb, c, r, e] sum= p[h, qb, c, t, r] * V[h, 16*c + t, e]
  o[h: 2, qb: 3, c: 3 sequential, r: 8, e: 7] where 8*qb - 16*c + 22 >= 0:
    @0 = w[h, qb, c, r, e]
    @1 = a[h, qb, c, r]
    @2 = o[h, qb, r, e] where (c - 1 >= 0) else 0.0
    o[h, qb, r, e] = @2 * @1 + @0
  Y[h: 2, qb: 3, r: 8, e: 7] where 18 - 8*qb - r >= 0:
    Y[h, 8*qb + r, e] = o[h, qb, r, e] * z[h, qb, r]
}
)";

// A group normalisation of two images, with groups of two contiguous channels.
inline constexpr std::string_view kGroupNorm = R"(compute group_norm {
  input X: f32[2, 17, 5, 22]
  output Y: f32[2, 17, 5, 22]
  workspace s: f32[2, 22]
  workspace g: f32[2, 11]
  workspace m: f32[2, 22]
  workspace q: f32[2, 22]
  workspace v: f32[2, 11]
  workspace d: f32[2, 22]
  s[n: 2, c: 22, h: 17 reduction, w: 5 reduction]:
    s[n, c] sum= X[n, h, w, c]
  g[n: 2, j: 11, k: 2 reduction]:
    g[n, j] sum= s[n, 2*j + k]
  m[n: 2, c: 22]:
    m[n, c] = g[n, floor(c/2)] / 170.0
  q[n: 2, c: 22, h: 17 reduction, w: 5 reduction]:
    q[n, c] sum= (X[n, h, w, c] - m[n, c]) * (X[n, h, w, c] - m[n, c])
  v[n: 2, j: 11, k: 2 reduction]:
    v[n, j] sum= q[n, 2*j + k]
  d[n: 2, c: 22]:
    d[n, c] = 1.0 / sqrt(v[n, floor(c/2)] / 170.0 + 0.001)
  Y[n: 2, h: 17, w: 5, c: 22]:
    Y[n, h, w, c] = (X[n, h, w, c] - m[n, c]) * d[n, c]
}
)";

// A normalisation of each column over all rows.
inline constexpr std::string_view kColumnNorm = R"(compute column_norm {
  input X: f32[37, 29]
  output Y: f32[37, 29]
  workspace s: f32[29]
  workspace q: f32[29]
  s[c: 29, r: 37 reduction]:
    s[c] sum= X[r, c]
  q[c: 29, r: 37 reduction]:
    q[c] sum= (X[r, c] - s[c] / 37.0) * (X[r, c] - s[c] / 37.0)
  Y[r: 37, c: 29]:
    Y[r, c] = (X[r, c] - s[c] / 37.0) / sqrt(q[c] / 37.0 + 0.001)
}
)";

// A product that is stored directly into the output.
inline const std::string kBareProduct = ProductText({.columns = 23, .value = ""});

// A product whose sums have only the terms below the diagonal of A. The sums of the last row of C
// are empty.
inline constexpr std::string_view kTriangularProduct = R"(compute triangular_product {
  input A: f32[37, 37]
  input B: f32[37, 23]
  output C: f32[37, 23]
  workspace acc: f32[37, 23]
  acc[i: 37, j: 23, k: 37 reduction] where k - i - 1 >= 0:
    acc[i, j] sum= A[k, i] * B[k, j]
  C[i: 37, j: 23]:
    C[i, j] = acc[i, j] * 1.5
}
)";

inline constexpr std::string_view kTwoProducts = R"(compute two_products {
  input A: f32[17, 29]
  input B: f32[29, 23]
  input D: f32[23, 19]
  output C: f32[17, 19]
  workspace t: f32[17, 23]
  workspace acc: f32[17, 19]
  t[i: 17, j: 23, k: 29 reduction]:
    t[i, j] sum= A[i, k] * B[k, j]
  acc[i: 17, j: 19, k: 23 reduction]:
    acc[i, j] sum= t[i, k] * D[k, j]
  C[i: 17, j: 19]:
    C[i, j] = acc[i, j] * 0.5
}
)";

// A program that reduces a matrix along the rows and along the columns.
inline constexpr std::string_view kRowsAndColumns = R"(compute rows_and_columns {
  input A: f32[37, 29]
  input x: f32[29]
  output y: f32[29]
  workspace t: f32[37]
  t[i: 37, j: 29 reduction]:
    t[i] sum= A[i, j] * x[j]
  y[i: 37 reduction, j: 29]:
    y[j] sum= A[i, j] * t[i]
}
)";

// The next four programs have operands of narrow types, which the reduction casts.
inline const std::string kHalfMatmul = ProductText({.columns = 29,
                                                    .length = 13,
                                                    .left = {.type = "f16"},
                                                    .right = {.type = "f16", .weight = "constant"},
                                                    .result = "f16",
                                                    .value = "f16(max(acc[i, j], 0.0))"});

inline constexpr std::string_view kByteMatmul = R"(compute byte_matmul {
  input A: u8[37, 13]
  input B: i8[13, 29]
  output C: i32[37, 29]
  workspace acc: i32[37, 29]
  acc[i: 37, j: 29, k: 13 reduction]:
    acc[i, j] sum= (i32(A[i, k]) - 3i32) * i32(B[k, j])
  C[i: 37, j: 29]:
    C[i, j] = acc[i, j] + 1i32
}
)";

inline constexpr std::string_view kHalfComputedOperand = R"(compute half_computed_operand {
  input A: bf16[3, 19, 29]
  input scale: bf16[29]
  weight B: bf16[29, 37] constant
  output C: bf16[3, 19, 37]
  workspace operand: bf16[3, 19, 29]
  workspace acc: f32[3, 19, 37]
  operand[b: 3, i: 19, k: 29]:
    operand[b, i, k] = A[b, i, k] * scale[k]
  acc[b: 3, i: 19, j: 37, k: 29 reduction]:
    acc[b, i, j] sum= f32(operand[b, i, k]) * f32(B[k, j])
  C[b: 3, i: 19, j: 37]:
    C[b, i, j] = bf16(acc[b, i, j])
}
)";

inline constexpr std::string_view kHalfConv = R"(compute half_conv {
  input X: bf16[1, 3, 7, 9] layout [1, 7, 9, 3] (n, c, h, w) -> [n, h, w, c]
  weight W: bf16[19, 3, 3, 3] constant
  output Y: bf16[1, 19, 7, 9] layout [1, 7, 9, 19] (n, c, h, w) -> [n, h, w, c]
  workspace acc: f32[1, 19, 7, 9]
  acc[n: 1, m: 19, oh: 7, ow: 9, ic: 3 reduction, kh: 3 reduction, kw: 3 reduction]:
    acc[n, m, oh, ow] sum= f32((X[n, ic, oh + kh - 1, ow + kw - 1] where (oh + kh - 1 >= 0, 7 - oh - kh >= 0, ow + kw - 1 >= 0, 9 - ow - kw >= 0) else 0.0)) * f32(W[m, ic, kh, kw])
  Y[n: 1, m: 19, oh: 7, ow: 9]:
    Y[n, m, oh, ow] = bf16(acc[n, m, oh, ow])
}
)";

// A program that computes the greatest and the smallest element, and two values from both.
inline constexpr std::string_view kRange = R"(compute range {
  input X: f32[37, 29]
  output scale: f32[]
  output zero: f32[]
  workspace hi: f32[]
  workspace lo: f32[]
  hi[r: 37 reduction, c: 29 reduction]:
    hi[] max= X[r, c]
  lo[r: 37 reduction, c: 29 reduction]:
    lo[] min= X[r, c]
  scale[]:
    scale[] = (hi[] - lo[]) / 8.0
  zero[]:
    zero[] = round(lo[] / scale[])
}
)";

inline const Program kPrograms[] = {
    {"matmul", kMatmul},
    {"bare_product", kBareProduct},
    {"triangular_product", kTriangularProduct},
    {"weight_matmul", kWeightMatmul},
    {"transposed_matmul", kTransposedMatmul},
    {"computed_operand", kComputedOperand},
    {"batched_matmul", kBatchedMatmul},
    {"vector_matrix", kVectorMatrix},
    {"conv3x3", kConv3x3},
    {"strided_conv", kStridedConv},
    {"dilated_grouped_conv", kDilatedGroupedConv},
    {"depthwise", kDepthwise},
    {"pointwise_conv", kPointwiseConv},
    {"grouped_conv", kGroupedConv},
    {"max_pool", kMaxPool},
    {"softmax", kSoftmax},
    {"one_row_softmax", kOneRowSoftmax},
    {"layernorm", kLayerNorm},
    {"sum_last", kSumLast},
    {"sum_first", kSumFirst},
    {"max_middle", kMaxMiddle},
    {"middle_softmax", kMiddleSoftmax},
    {"middle_argmax", kMiddleArgMax},
    {"outer_norm", kOuterNorm},
    {"sum_all", kSumAll},
    {"broadcast_chain", kBroadcastChain},
    {"uniform_chain", kUniformChain},
    {"transpose", kTranspose},
    {"concat", kConcat},
    {"turned", kTurned},
    {"gather", kGather},
    {"argmax", kArgMax},
    {"causal", kCausal},
    {"attention", kAttention},
    {"streamed_attention", kStreamedAttention},
    {"group_norm", kGroupNorm},
    {"column_norm", kColumnNorm},
    {"range", kRange},
    {"half_matmul", kHalfMatmul},
    {"byte_matmul", kByteMatmul},
    {"half_computed_operand", kHalfComputedOperand},
    {"half_conv", kHalfConv},
    {"term_matmul", kBf16Matmul},
};

}  // namespace tunec::test
