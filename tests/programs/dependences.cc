#include "tests/programs/dependences.h"

#include <fmt/format.h>

namespace tunec::test {

std::string SeidelText(int64_t inner, int64_t steps) {
  return fmt::format(R"(compute seidel {{
  input X: f32[{0}]
  output A: f32[{0}]
  A.copy[i: {0}]:
    A[i] = X[i]
  A[t: {2} sequential, i: {1} sequential]:
    A[i + 1] = (A[i] + A[i + 1] + A[i + 2]) * 0.25
}}
)",
                     inner + 2, inner, steps);
}

}  // namespace tunec::test
