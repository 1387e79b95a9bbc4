// Functions that run graphs as machine code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "ir/array.h"

namespace tunec::fuzz {

/// Returns an array of 0xff bytes. For floats these are NaN, so checks detect unwritten elements.
Array Unwritten(DataType type, std::vector<int64_t> shape);

/// Compiles the whole graph with analytic schedules, and runs it once with the runtime.
Result<std::vector<Array>> RunCompiled(const Graph& graph, FusionMode fusion,
                                       std::span<const Array> inputs);

/// Runs group by group. One random group runs as machine code, under random decisions of a random
/// sketch. The interpreter runs the other groups.
Result<std::vector<Array>> RunRandomSchedules(const Graph& graph, const FusionPlan& plan,
                                              std::span<const Array> inputs, uint64_t seed);

}  // namespace tunec::fuzz
