// Small programs with various dependences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tunec::test {

inline constexpr std::string_view kPaddedConv = R"(compute padded_conv {
  input X: f32[2, 5]
  input W: f32[2, 3]
  output Y: f32[5]
  Y[o: 5, ic: 2 reduction, kh: 3 reduction] where o + kh - 1 >= 0, 5 - o - kh >= 0:
    Y[o] sum= X[ic, o + kh - 1] * W[ic, kh]
}
)";

/// Returns a one-dimensional Gauss-Seidel relaxation in place, of `inner` elements between two
/// elements that do not change.
std::string SeidelText(int64_t inner, int64_t steps);
inline const std::string kSeidel = SeidelText(7, 4);

/// A program whose time steps overwrite one row. Each step after the first reads what the previous
/// step wrote.
inline constexpr std::string_view kSeidelRow = R"(compute seidel_row {
  input X: f32[9]
  workspace A: f32[9]
  output Z: f32[9]
  A[t: 4 sequential, i: 9]:
    A[i] = (A[i] where (t - 1 >= 0) else 0.0) + X[i]
  Z[i: 9]:
    Z[i] = X[i]
}
)";

inline constexpr std::string_view kScan = R"(compute scan {
  input X: f32[9]
  output Y: f32[9]
  Y[i: 9 sequential]:
    Y[i] = (Y[i - 1] where (i - 1 >= 0) else 0.0) + X[i]
}
)";

inline constexpr std::string_view kRunningSum = R"(compute running_sum {
  input X: f32[9]
  output Z: f32[]
  workspace Y: f32[]
  Y[k: 9 reduction]:
    Y[] sum= X[k]
  Z[]:
    Z[] = Y[] * 2.0
}
)";

inline constexpr std::string_view kSelfReading = R"(compute self_reading {
  input X: f32[4, 3]
  output Y: f32[4]
  Y[i: 4 sequential, k: 3 reduction]:
    Y[i] sum= X[i, k] + (Y[i - 1] where (i - 1 >= 0) else 0.0)
}
)";

inline constexpr std::string_view kOverwritten = R"(compute overwritten {
  input X: f32[9]
  output Y: f32[9]
  workspace t: f32[9]
  a[i: 9]:
    t[i] = X[i]
  b[i: 9]:
    t[i] = X[i] * 2.0
  Y[i: 9]:
    Y[i] = t[i]
}
)";

inline constexpr std::string_view kReused = R"(compute reused {
  input X: f32[9]
  output Y: f32[9]
  output Z: f32[9]
  workspace t: f32[9]
  a[i: 9]:
    t[i] = X[i]
  Y[i: 9]:
    Y[i] = t[i] + 1.0
  b[i: 9]:
    t[i] = X[i] * 2.0
  Z[i: 9]:
    Z[i] = t[i]
}
)";

inline constexpr std::string_view kInPlace = R"(compute in_place {
  input X: f32[9]
  output Y: f32[9]
  output Z: f32[9]
  workspace t: f32[9]
  workspace u: f32[9] alias t
  t[i: 9]:
    t[i] = X[i] + 1.0
  Y[i: 9]:
    Y[i] = t[i]
  u[i: 9]:
    u[i] = X[i] * 2.0
  Z[i: 9]:
    Z[i] = u[i]
}
)";

inline constexpr std::string_view kScatter = R"(compute scatter {
  input X: f32[9]
  input I: i64[9] range [0, 4]
  output Y: f32[5]
  Y.clear[j: 5]:
    Y[j] = 0.0
  Y[i: 9 sequential]:
    Y[@(I[i])] = X[i]
}
)";

inline constexpr std::string_view kDivided = R"(compute divided {
  input X: f32[64]
  output Y: f32[64]
  workspace t: f32[64]
  t[a: 2, b: 2, c: 2, d: 2, e: 2, f: 2]:
    t[floor((32*a + 16*b + 8*c + 4*d + 2*e + f) / 2) + 32*f - 32*f] = X[32*a + 16*b + 8*c + 4*d + 2*e + f]
  Y[i: 64]:
    Y[i] = t[floor(i / 2)]
}
)";

}  // namespace tunec::test
