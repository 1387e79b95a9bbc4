// `tunec opt --count`: counts after each pass, and counts of the resulting program.
#pragma once

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "graph/passes/pipeline.h"

namespace tunec {

struct CountArguments {
  bool json = false;
  CompileOptions compile;  // target whose phases are counted
};

/// Runs the passes on `graph` and prints the counts as a table, or as
/// {"passes":[{"name","nodes","bytes"}...],"groups":N,"phases":N}.
Result<PipelineResult> PrintCounts(const Graph& graph, const PipelineOptions& pipeline,
                                   const CountArguments& arguments);

}  // namespace tunec
