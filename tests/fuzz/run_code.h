// Functions that run a graph, or one of its groups, as machine code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "ir/array.h"

namespace tunec::fuzz {

/// Returns an array of 0xff bytes. Floats are then NaN, so checks can detect unwritten floats.
Array Unwritten(DataType type, std::vector<int64_t> shape);

/// Compiles the whole graph with analytic schedules, and runs it once with the runtime.
Result<std::vector<Array>> RunCompiled(const Graph& graph, FusionMode fusion,
                                       std::span<const Array> inputs);

/// Runs the graph group by group. One random group runs as machine code with a random schedule. The
/// interpreter runs the other groups.
Result<std::vector<Array>> RunRandomSchedules(const Graph& graph, const FusionPlan& plan,
                                              std::span<const Array> inputs, uint64_t seed);

}  // namespace tunec::fuzz
