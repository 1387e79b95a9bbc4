// How the loops of a convolution address what its kernel writes.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ir/expr/index_expr.h"

namespace tunec {

/// The index of a value over iterators of these extents.
struct AnchorIndex {
  std::vector<int64_t> extents;
  std::vector<IndexExpr> index;
};

/// Follows elementwise operators, reshapes and transposes from the value back to a convolution.
/// Channels of a grouped one are two iterators, the group and the channel within it, so that
/// reshaping channels into groups keeps the index affine: a channel shuffle is a move of the store.
/// Nothing for values of another origin. O(nodes followed), which is bounded.
std::optional<AnchorIndex> IndexOverAnchor(const Graph& graph, ValueId value);

/// The index of the node's output, a transpose or reshape of what has this index.
AnchorIndex Renamed(const Graph& graph, const Node& node, const AnchorIndex& input);

}  // namespace tunec
