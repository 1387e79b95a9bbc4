// Texts of small programs shared by the tests of this folder, in canonical form.
#pragma once

#include <string_view>
#include <utility>

namespace tunec::test {

inline constexpr std::string_view kMatmul = R"(compute matmul {
  input A: f32[37, 29]
  weight B: f32[29, 13] constant align 64
  output C: f32[37, 13]
  local acc: f32[37, 13]
  S[i: 37, j: 13, k: 29 reduction]:
    acc[i, j] sum= A[i, k] * B[k, j]
  T[i: 37, j: 13]:
    C[i, j] = max(acc[i, j], 0.0)
}
)";

inline constexpr std::string_view kBlocked = R"(compute blocked {
  input A: f32[37, 13]
  output C: f32[37, 13] layout [37, 2, 8] (i, j) -> [i, floor(j/8), j mod 8]
  S[i: 37, j: 13]:
    C[i, j] = A[i, j] + index_f32(8*i + (j mod 8))
}
)";

inline constexpr std::string_view kConvolution = R"(compute convolution {
  input X: f32[9, 4]
  weight W: f32[3, 4, 5] constant
  output Y: f32[9, 5]
  S[o: 9, f: 5, r: 3 reduction, c: 4 reduction]:
    Y[o, f] sum= (X[o + r - 1, c] where (o + r - 1 >= 0, -o - r + 9 >= 0) else 0.0) * W[r, c, f]
}
)";

inline constexpr std::string_view kArgMax = R"(compute argmax {
  input X: f32[6, 11]
  output V: f32[6]
  output P: i64[6] range [0, 10]
  S[i: 6, k: 11 reduction]:
    (V[i], P[i]) argmax= (X[i, k], index_i64(k))
}
)";

inline constexpr std::string_view kGather = R"(compute gather {
  input X: f32[20, 3]
  input I: i32[7] range [0, 19]
  output Y: f32[7, 3]
  S[i: 7, j: 3]:
    Y[i, j] = X[@(I[i]), j] * 2.0
}
)";

inline constexpr std::string_view kTriangle = R"(compute triangle {
  input A: f64[10, 10]
  output C: f64[10]
  S[i: 10, j: 10 reduction] where i - j >= 0:
    C[i] sum= A[i, j]
}
)";

inline constexpr std::string_view kWelford = R"(compute welford {
  input X: f64[4, 9]
  output M: f64[4]
  output D: f64[4]
  local N: f64[4]
  S[i: 4, k: 9 sequential]:
    reducer welford identity (0.0f64, 0.0f64, 0.0f64) combine (acc0_f64 + (new0_f64 - acc0_f64) / (acc2_f64 + 1.0f64), acc1_f64 + (new0_f64 - acc0_f64) * (new0_f64 - (acc0_f64 + (new0_f64 - acc0_f64) / (acc2_f64 + 1.0f64))), acc2_f64 + 1.0f64) finalise (acc0_f64, acc1_f64 / acc2_f64, acc2_f64) sequential
    (M[i], D[i], N[i]) welford= (X[i, k], 0.0f64, 0.0f64)
}
)";

inline constexpr std::string_view kMixed = R"(compute mixed {
  input A: f16[5]
  input B: bool[5]
  workspace T: i32[5]
  output C: f32[5]
  output D: u8[5]
  S[i: 5]:
    T[i] = i32(A[i]) + select(B[i], 1i32, -1i32)
  U[i: 5]:
    (D[i], C[i]) = (u8(holds(i - 2 >= 0)), f32(T[i]) + inf)
}
)";

inline constexpr std::pair<std::string_view, std::string_view> kComputes[] = {
    {"matmul", kMatmul},   {"blocked", kBlocked}, {"convolution", kConvolution},
    {"argmax", kArgMax},   {"gather", kGather},   {"triangle", kTriangle},
    {"welford", kWelford}, {"mixed", kMixed}};

}  // namespace tunec::test
