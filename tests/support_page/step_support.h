// A function that finds the targets for which code is generated from schedules with each step. The
// schedules are those in tests/schedule/golden.
#pragma once

#include <string>
#include <vector>

namespace tunec {

struct StepSupport {
  std::string form;  // heading of the manual: "split LOOP FACTOR..."
  int examples = 0;  // number of golden files that use the step
  bool on_cpu = false;
  bool on_cuda = false;
};

/// Returns an entry for each step of the step table, in the manual's order. A target supports a
/// step if code is generated for one of the examples.
std::vector<StepSupport> FindStepSupport();

}  // namespace tunec
