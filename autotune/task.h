// What is tuned: one fusion group in its alternative lowerings, and its share of the model.
#pragma once

#include <string>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

struct TuningTask {
  std::string kind;         // `matmul`, `conv2d`, ...: what similar workloads are sought by
  std::string description;  // one line for people: the operators and shapes
  /// At least one. The text of the first identifies the workload; groups of equal text are one
  /// task.
  std::vector<NamedCompute> lowerings;
  double weight = 1;  // how many times the model runs it
  /// Of its inputs and outputs those that are the model's own, by name, sorted, in every group that
  /// the task stands for: what runs the model places them. All others lie where the runtime puts
  /// them.
  std::vector<std::string> callers = {};
};

}  // namespace tunec
