// The two test classes for schedule steps. StepFires expects that steps change the loops, and that
// the results equal the interpreter's. StepRejects expects a message for an invalid use. The files
// of this folder have the cases, one file per kind of step.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

namespace tunec::test {

struct StepExample {
  std::string_view name;
  std::string_view program;
  std::string_view steps;
};

struct StepRejection {
  std::string_view name;
  std::string_view program;
  std::string_view steps;
  std::string_view message;
};

void PrintTo(const StepExample& example, std::ostream* out);
void PrintTo(const StepRejection& rejection, std::ostream* out);

/// Returns the name of the case, which GoogleTest appends to the name of the test.
template <typename Case>
std::string CaseName(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.name);
}

class StepFires : public testing::TestWithParam<StepExample> {};
class StepRejects : public testing::TestWithParam<StepRejection> {};

// The texts below are Computes that several files of this folder use.

inline constexpr std::string_view kCumulative = R"(compute cumulative {
  input X: f32[7]
  output Y: f32[9]
  start[i: 9]:
    Y[i] = 1.0
  Y[i: 7, k: 2 reduction]:
    Y[i + 2] sum= Y[i + k] * X[i]
}
)";

inline constexpr std::string_view kWrittenHalf = R"(compute written_half {
  input A: f32[13, 13]
  output Y: f32[13]
  workspace t: f32[13, 13]
  t[i: 13, k: 13] where i - k >= 0:
    t[i, k] = A[i, k]
  Y[i: 13, k: 13 reduction] where i - k >= 0:
    Y[i] sum= t[i, k]
}
)";

inline constexpr std::string_view kPaddedByOnes = R"(compute padded_by_ones {
  input X: f32[7]
  output Y: f32[7]
  Y[i: 7, k: 3 reduction]:
    Y[i] sum= (X[i + k] where (6 - i - k >= 0) else 1.0) * X[k]
}
)";

// The sums of an array's antidiagonals. Several pairs of i and j may add to one element.
inline constexpr std::string_view kDiagonals = R"(compute diagonals {
  input X: f32[5, 3]
  output Y: f32[7]
  Y[i: 5, j: 3 reduction]:
    Y[i + j] sum= X[i, j]
}
)";

inline constexpr std::string_view kLoadedIndex = R"(compute loaded_index {
  input T: f32[11]
  input I: i64[13] range [0, 10]
  output Y: f32[13]
  workspace k: i64[13] range [0, 10]
  k[i: 13]:
    k[i] = I[i]
  Y[i: 13]:
    Y[i] = T[@(k[i])]
}
)";

inline constexpr std::string_view kUncast = R"(compute uncast {
  input A: f16[9]
  output Y: f32[9]
  output Z: f16[9]
  Y[i: 9]:
    (Y[i], Z[i]) = (f32(A[i]), A[i])
}
)";

}  // namespace tunec::test
