// One check: the kernels of a random contraction, under its contract and on its machine, against
// float64, by the judge that the tuner uses.
#pragma once

#include <map>
#include <string>

#include "tests/fuzz/check_graph.h"
#include "tests/fuzz/contraction_generator.h"

namespace tunec::fuzz {

struct ArithmeticResult {
  CheckResult result;
  /// How many kernels ran, by what does their products: "fma", "dpbf16", "amx 3 terms",
  /// "winograd", "stream".
  std::map<std::string, int> kernels;
  std::map<std::string, int> sketches;  // by whose schedules: "tile/j", "split_sum/8"
};

/// Sketches of each group, as they begin and with their knobs drawn. `schedules`: the contract that
/// schedules are made under; another one than the case's plants a fault.
ArithmeticResult CheckArithmetic(const ContractionCase& contraction, const Accuracy& schedules);

}  // namespace tunec::fuzz
