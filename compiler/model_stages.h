// The stages of compiling up to code, which a model that runs here and one that is written down
// have in common.
#pragma once

#include <vector>

#include "compiler/assemble/assemble.h"
#include "compiler/compiler.h"
#include "compiler/kernel_build.h"
#include "compiler/tasks.h"
#include "compiler/tune_model.h"
#include "db/database.h"
#include "graph/graph.h"
#include "support/error.h"

namespace tunec {

/// A model of which there is code for every group, not placed in memory yet.
struct StagedModel {
  FrontReport front;
  Tasks tasks;
  TunedModel tuned;
  std::vector<BuiltKernel> kernels;
  std::vector<GroupKernel> groups;
  double passes_ms = 0;
  double build_ms = 0;  // of the kernels
};

/// Errors: those of Compile.
Result<StagedModel> RunStages(const Graph& graph, Database* database,
                              const CompileOptions& options);

}  // namespace tunec
