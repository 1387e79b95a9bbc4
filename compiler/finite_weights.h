// Which weights are known to hold finite numbers alone: what splits them into terms makes a plane
// less of such (docs/decisions/0031_finite_weights.md).
#pragma once

#include <vector>

#include "compiler/compiler.h"
#include "graph/graph.h"

namespace tunec {

/// Sets `finite` of the weights that products read, in all lowerings of a group, where that changes
/// a schedule: the contract wants several terms, and the target multiplies matrices of them. Every
/// other Compute keeps its text. Reads each such weight once.
void MarkFiniteWeights(const Graph& graph, const CompileOptions& options,
                       std::vector<GroupReport>& groups);

}  // namespace tunec
