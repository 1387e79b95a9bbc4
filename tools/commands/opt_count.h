// `tunec opt --count`: what each pass leaves, and what a run of the result is made of.
#pragma once

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "graph/passes/pipeline.h"

namespace tunec {

struct CountArguments {
  bool json = false;
  CompileOptions compile;  // the target that the phases are of
};

/// Runs the passes on `graph`, and prints the counts: a table, or
/// {"passes":[{"name","nodes","bytes"}...],"groups":N,"phases":N}.
Result<PipelineResult> PrintCounts(const Graph& graph, const PipelineOptions& pipeline,
                                   const CountArguments& arguments);

}  // namespace tunec
