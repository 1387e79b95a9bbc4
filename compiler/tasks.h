// The tuning tasks of a model: groups of equal canonical text are one, tuned and compiled once. On
// a CPU a task's arguments are callers' where those of all its groups are.
#pragma once

#include <vector>

#include "autotune/task.h"
#include "compiler/compiler.h"
#include "ir/target.h"

namespace tunec {

struct Tasks {
  std::vector<TuningTask> unique;  // in order of first appearance
  std::vector<size_t> of_group;    // each group's task
};

Tasks CollectTasks(const FrontReport& front, const Target& target);

}  // namespace tunec
