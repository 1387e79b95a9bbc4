// Functions that run a graph group by group, and interpret a Compute.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "graph/lower/lower.h"
#include "ir/array.h"

namespace tunec::fuzz {

/// A function that runs a group. Arguments and results are in the order of its inputs and outputs.
using RunGroup = std::function<Result<std::vector<Array>>(
    size_t group, const std::vector<Lowering>& lowerings, std::span<const Array> arguments)>;

/// Calls `run` for each group of the plan, in order. Returns the graph's outputs, or an error.
Result<std::vector<Array>> RunGroups(const Graph& graph, const FusionPlan& plan,
                                     std::span<const Array> inputs, const RunGroup& run);

/// Runs the Compute with the interpreter, after verification. Errors are kInternal and include the
/// Compute's text.
Result<std::vector<Array>> InterpretLowering(const Compute& compute,
                                             std::span<const Array> arguments);

}  // namespace tunec::fuzz
