// The size of a graph in numbers.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tunec {

struct GraphCounts {
  int64_t nodes = 0;  // that compute: inputs and constants are none
  /// Moved if each node ran on its own: the bytes of its operands, each once, and of its results.
  /// Nodes that only rename indices (IsView) move nothing, and an expanded operand counts as what
  /// it was expanded from.
  int64_t bytes = 0;
  /// Elements of the floating-point constants of rank 1 or more that an output depends on; the mean
  /// and variance of a batch normalisation are statistics, not parameters.
  int64_t parameters = 0;
};

/// GraphCounts::nodes, of any graph.
int64_t CountNodes(const Graph& graph);

/// Whether the node's result is its first operand under other indices: identity, reshape,
/// transpose, slice, expand.
bool IsView(Op op);

/// kUnsupported when a dimension is not fixed. O(operands).
Result<GraphCounts> CountGraph(const Graph& graph);

}  // namespace tunec
