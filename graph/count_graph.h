// Functions to count the nodes of a graph, the moved bytes and the parameters.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tunec {

struct GraphCounts {
  int64_t nodes = 0;  // nodes that compute; inputs and constants do not count
  /// Bytes moved if each node ran separately and moved each operand and result once. Nodes that
  /// only rename indices (IsView) move nothing. An expanded operand counts with the bytes before
  /// the expansion.
  int64_t bytes = 0;
  /// Elements of the floating-point constants of rank 1 or more that an output depends on. A
  /// constant that is only the mean or variance of batch normalisations does not count.
  int64_t parameters = 0;
};

/// Returns GraphCounts::nodes. The graph may have dimensions without sizes.
int64_t CountNodes(const Graph& graph);

/// Returns whether the operator only renames the indices of its first operand: identity, reshape,
/// transpose, slice, expand.
bool IsView(Op op);

/// Returns the counts of `graph`. Errors: kUnsupported if a dimension is not fixed.
Result<GraphCounts> CountGraph(const Graph& graph);

}  // namespace tunec
