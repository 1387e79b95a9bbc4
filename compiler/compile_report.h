// What the driver tells of a compiled model, gathered from what its stages left.
#pragma once

#include "compiler/compiler.h"
#include "compiler/model_stages.h"
#include "graph/graph.h"
#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// The report of `graph`, which was staged and placed; `compile_ms` is the caller's to say.
Result<CompileReport> MakeReport(const Graph& graph, const StagedModel& staged,
                                 const ExecutablePlan& plan, const CompileOptions& options);

}  // namespace tunec
