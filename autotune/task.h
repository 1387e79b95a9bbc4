// A task, the unit of tuning. It has the alternative lowerings of one fusion group.
#pragma once

#include <string>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

struct TuningTask {
  std::string kind;         // `matmul`, `conv2d`, ...; used to find similar workloads
  std::string description;  // one line for people: the operators and shapes
  /// The alternative lowerings, at least one. The text of the first lowering identifies the
  /// workload; groups with equal text are one task.
  std::vector<NamedCompute> lowerings;
  double weight = 1;  // number of executions in one run of the model
  /// Sorted names of the arguments whose buffers the caller of the model allocates, in every group
  /// of this task: inputs and outputs of the model, and views of them. The runtime allocates all
  /// other buffers. On a device the list is empty.
  std::vector<std::string> callers = {};
};

}  // namespace tunec
