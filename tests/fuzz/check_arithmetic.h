// One check: the kernels of a random contraction, under its accuracy mode and on its machine,
// compared with float64 by the tuner's checker.
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

/// Checks sketches of each group, with their initial knobs and with drawn knobs. `schedules` is the
/// accuracy mode of the schedules; a mode other than the case's plants a fault.
ArithmeticResult CheckArithmetic(const ContractionCase& contraction, const Accuracy& schedules);

}  // namespace tunec::fuzz
