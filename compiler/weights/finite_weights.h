// Detection of weights that hold only finite numbers. The bf16 split of such weights needs one
// plane fewer (docs/decisions/0031_finite_weights.md).
#pragma once

#include <vector>

#include "compiler/compiler.h"
#include "graph/graph.h"

namespace tunec {

/// Sets `finite` of the weights that products read, in all lowerings of a group. Does so only if it
/// may change a schedule: the accuracy mode requires a split into several bf16 limbs, and the
/// target has instructions that multiply matrices of bf16. In other cases the text of the Compute
/// does not change. Reads each such weight once.
void MarkFiniteWeights(const Graph& graph, const CompileOptions& options,
                       std::vector<GroupReport>& groups);

}  // namespace tunec
