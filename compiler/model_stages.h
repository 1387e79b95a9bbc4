// The compilation stages from a graph to kernels. Compile and the writers of bundles share them.
#pragma once

#include <vector>

#include "compiler/assemble/assemble.h"
#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tuning/tasks.h"
#include "compiler/tuning/tune_model.h"
#include "db/database.h"
#include "graph/graph.h"
#include "support/error.h"

namespace tunec {

/// A model with code for every group, before memory planning.
struct StagedModel {
  FrontReport front;
  ModelTasks tasks;
  TunedModel tuned;
  std::vector<BuiltKernel> kernels;
  std::vector<GroupKernel> groups;
  double passes_ms = 0;
  double build_ms = 0;  // time to build the kernels
};

/// Runs the stages of Compile up to the kernels. Errors: those of Compile.
Result<StagedModel> RunStages(const Graph& graph, Database* database,
                              const CompileOptions& options);

}  // namespace tunec
