// A function that finds, for each schedule step, the targets for which code is generated. The
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

/// Returns an entry for each step, in the order of ComputeStepForms() and LoopStepForms(). A target
/// supports a step if code is generated for at least one of the step's examples.
std::vector<StepSupport> FindStepSupport();

}  // namespace tunec
