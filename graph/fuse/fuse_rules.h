// The rule of fusion: decides whether the group that makes a value may absorb its consumer.
#pragma once

#include <optional>
#include <vector>

#include "graph/fuse/fusion_reason.h"
#include "graph/graph.h"

namespace tunec {

/// The rows of a reduction, which reduces `axes` of values of this shape.
struct RowSpace {
  std::vector<int64_t> shape;
  std::vector<bool> axes;
  bool operator==(const RowSpace&) const = default;
};

/// Returns the rows of a reduction, softmax or normalisation over whole axes; nullopt for other
/// nodes.
std::optional<RowSpace> RowsOf(const Graph& graph, const Node& node);

/// The main operation of a group's kernel. A group has at most one anchor. In a chain of two
/// contractions, the anchor is the last one.
struct GroupTraits {
  enum class Anchor { kNone, kContraction, kRows, kWindows, kScatter, kOpaque };
  Anchor anchor = Anchor::kNone;
  NodeId contraction;  // for kContraction: the contraction whose sums the kernel computes last
  std::optional<RowSpace> rows;  // for kRows
  bool only_renames = true;      // every node is an affine index map (transpose, reshape, slice)
  int nodes = 0;
  double operations = 0;  // of all elements, including repeated computations
  double parts = 0;       // tasks that the anchor allows; 0: as many as there are elements
};

GroupTraits TraitsOf(const Graph& graph, const Node& node);
/// Returns the traits of the union. Requires: at most one of them has an anchor, or both have the
/// same rows, or they form a chain of contractions. `times` is how often each element of the
/// producer is then computed.
GroupTraits Merge(const GroupTraits& producer, const GroupTraits& into, double times = 1);

/// Returns whether the two groups compute in the same loops according to their anchors:
/// elementwise, or reductions over the same rows.
bool AreSiblings(const GroupTraits& a, const GroupTraits& b);

/// The edge from `value`, made in `producer`, to `consumer`, whose group so far is `into`. The
/// question is only whether one kernel can do both; costs, cycles and sizes are checked elsewhere.
struct FusionQuestion {
  ValueId value;
  const GroupTraits& producer;
  const Node& consumer;
  const GroupTraits& into;
  const std::vector<NodeId>& users;  // users of the value
};
FusionReason DecideFusion(const Graph& graph, const FusionQuestion& question);

}  // namespace tunec
