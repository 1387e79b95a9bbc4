// Detection of weights that hold only finite numbers. The bf16 split of such weights needs one
// plane fewer (docs/decisions/0031_finite_weights.md).
#pragma once

#include <vector>

#include "compiler/compiler.h"
#include "graph/graph.h"

namespace tunec {

/// Sets `finite` of the finite float32 weights that products read, in all lowerings. Does so only
/// if the mark may change a schedule: the accuracy mode allows bf16 splits only into several parts,
/// and the target has instructions that multiply matrices of bf16. In other cases the text of the
/// Compute does not change. Reads each weight at most once.
void MarkFiniteWeights(const Graph& graph, const CompileOptions& options,
                       std::vector<GroupReport>& groups);

}  // namespace tunec
