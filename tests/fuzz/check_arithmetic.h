// A function that performs a check of fuzz_arithmetic. Kernels of a random case run as code for the
// case's CPU. The tuner's checker compares the results with float64.
#pragma once

#include <map>
#include <string>

#include "tests/fuzz/check_graph.h"
#include "tests/fuzz/contraction_generator.h"

namespace tunec::fuzz {

struct ArithmeticResult {
  CheckResult result;
  /// The number of kernels, by the arithmetic of their products or by their lowering, for example
  /// "fma", "dpbf16", "amx 3 terms", "winograd", "stream".
  std::map<std::string, int> kernels;
  std::map<std::string, int> sketches;  // kernel counts by sketch: "tile/j", "split_sum/8"
};

/// Checks sketches of each group, with initial and with random decisions. `schedules` is the
/// accuracy mode of the schedules. To plant a fault, it differs from the mode of the case.
ArithmeticResult CheckArithmetic(const ContractionCase& contraction, const Accuracy& schedules);

}  // namespace tunec::fuzz
