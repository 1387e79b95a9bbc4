// Programs with many constructs of the text language of Computes, in the form that Print writes.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tests/programs/operators.h"

namespace tunec::test {

inline const std::string kAlignedMatmul = ProductText({.right = {.weight = "constant align 64"}});
inline const std::string kNarrowGather = GatherText(7, 20, 3, "i32");

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

inline const std::pair<std::string_view, std::string_view> kTextForms[] = {
    {"matmul", kAlignedMatmul}, {"blocked", kBlocked},     {"convolution", kConvolution},
    {"argmax", kArgMax},        {"gather", kNarrowGather}, {"triangle", kTriangle},
    {"welford", kWelford},      {"mixed", kMixed}};

}  // namespace tunec::test
