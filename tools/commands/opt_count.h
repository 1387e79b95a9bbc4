// `tunec opt --count` prints a graph's nodes and bytes after each pass, and predictions of runs.
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

/// Runs the passes on `graph` and returns their result. Prints the counts as tables, or as JSON
/// with the keys passes, groups, phases, as_read and fused. A row of passes is
/// {"name","nodes","bytes"}.
Result<PipelineResult> PrintCounts(const Graph& graph, const PipelineOptions& pipeline,
                                   const CountArguments& arguments);

}  // namespace tunec
