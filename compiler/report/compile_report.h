// A function that makes the report of a compiled model from the results of the stages.
#pragma once

#include "compiler/compiler.h"
#include "compiler/model_stages.h"
#include "graph/graph.h"
#include "runtime/executable_plan.h"
#include "support/error.h"

namespace tunec {

/// Returns the report of `graph` from its stages and its memory plan. The caller sets `compile_ms`.
Result<CompileReport> MakeReport(const Graph& graph, const StagedModel& staged,
                                 const ExecutablePlan& plan, const CompileOptions& options);

}  // namespace tunec
