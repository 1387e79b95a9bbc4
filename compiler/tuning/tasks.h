// Tuning tasks of a model. Groups with equal canonical text are one task, which is tuned and
// compiled once. On a CPU, an argument of a task is the caller's memory (TuningTask::callers) only
// if it is the caller's memory in all groups of the task.
#pragma once

#include <vector>

#include "autotune/task.h"
#include "compiler/compiler.h"
#include "ir/target.h"

namespace tunec {

struct ModelTasks {
  std::vector<TuningTask> unique;  // in order of first appearance
  std::vector<size_t> of_group;    // index of each group's task
};

ModelTasks CollectTasks(const FrontReport& front, const Target& target);

}  // namespace tunec
