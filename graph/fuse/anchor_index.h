// Functions that find the index by which a convolution's loops address values made from the result.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ir/expr/index_expr.h"

namespace tunec {

/// The index of a value's element, as expressions of iterators, and the extents of the iterators.
struct AnchorIndex {
  std::vector<int64_t> extents;
  std::vector<IndexExpr> index;
};

/// Returns the index by which a convolution's loops address `value`. Follows reshapes, transposes
/// and elementwise operators of equal shape back to the convolution. If the convolution has several
/// groups of several channels, the channels are two iterators: the group and the channel within the
/// group. So reshaping channels into groups keeps the index affine, and a channel shuffle only
/// changes the index of the store. Returns nullopt if no convolution is found in few steps.
std::optional<AnchorIndex> FindAnchorIndex(const Graph& graph, ValueId value);

/// Returns the index of the node's output. The node is a transpose or reshape of a value with index
/// `input`.
AnchorIndex Renamed(const Graph& graph, const Node& node, const AnchorIndex& input);

}  // namespace tunec
