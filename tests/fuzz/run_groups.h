// Runs a graph group by group, each group as the caller says.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "graph/lower/lower.h"
#include "ir/array.h"

namespace tunec::fuzz {

/// The outputs of a group for its inputs, in the group's order.
using RunGroup = std::function<Result<std::vector<Array>>(
    size_t group, const std::vector<Lowering>& lowerings, std::span<const Array> arguments)>;

/// The graph's outputs.
Result<std::vector<Array>> RunGroups(const Graph& graph, const FusionPlan& plan,
                                     std::span<const Array> inputs, const RunGroup& run);

/// By the interpreter; the Compute is verified first. Errors of either are kInternal and show its
/// text.
Result<std::vector<Array>> InterpretLowering(const Compute& compute,
                                             std::span<const Array> arguments);

}  // namespace tunec::fuzz
