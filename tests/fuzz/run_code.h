// Graphs as machine code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "ir/array.h"

namespace tunec::fuzz {

/// NaN all over: what nobody writes shows.
Array Unwritten(DataType type, std::vector<int64_t> shape);

/// Compiled whole, with analytic schedules, and run once by the runtime.
Result<std::vector<Array>> RunCompiled(const Graph& graph, FusionMode fusion,
                                       std::span<const Array> inputs);

/// Group by group. One group runs under random decisions of a random sketch (where they are legal),
/// the others under their analytic schedules.
Result<std::vector<Array>> RunRandomSchedules(const Graph& graph, const FusionPlan& plan,
                                              std::span<const Array> inputs, uint64_t seed);

}  // namespace tunec::fuzz
