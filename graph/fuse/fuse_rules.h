// The rule of fusion. It decides whether one kernel can compute both the group that makes a value
// and the group of a consumer of the value.
#pragma once

#include <optional>
#include <vector>

#include "graph/fuse/fusion_reason.h"
#include "graph/graph.h"

namespace tunec {

/// The rows that an operator such as a reduction processes. Each row extends over the marked `axes`
/// of a value of this shape.
struct RowSpace {
  std::vector<int64_t> shape;
  std::vector<bool> axes;
  bool operator==(const RowSpace&) const = default;
};

/// Returns the rows that the node processes as a whole; nullopt if its RowAxes (op.h) are kNone.
std::optional<RowSpace> RowsOf(const Graph& graph, const Node& node);

/// Properties of a group that decide about fusion. The anchor is the kind of the main operation of
/// the group's kernel. Several main operations in a group are of the same kind.
struct GroupTraits {
  enum class Anchor { kNone, kContraction, kRows, kWindows, kScatter, kOpaque };
  Anchor anchor = Anchor::kNone;
  NodeId contraction;  // for kContraction: the contraction whose sums the kernel computes last
  std::optional<RowSpace> rows;  // for kRows
  bool only_renames = true;      // every node is an affine index map such as a transpose or slice
  int nodes = 0;
  double operations = 0;  // for all elements, including repeated computations
  double parts = 0;       // tasks that the anchor allows; 0: enough for all cores
};

GroupTraits TraitsOf(const Graph& graph, const Node& node);
/// Returns the traits of the union of both groups. Requires: at most one group has an anchor, or
/// both have the same rows, or they form a chain of contractions. `times` is how often the union
/// computes each element of the producer, on average.
GroupTraits Merge(const GroupTraits& producer, const GroupTraits& into, double times = 1);

/// Returns whether the anchors allow one kernel with the same loops for both groups: neither has an
/// anchor, or both reduce the same rows. Groups that only rename indices are no siblings.
bool AreSiblings(const GroupTraits& a, const GroupTraits& b);

/// The edge from `value` to the node `consumer`. `producer` has the traits of the group that makes
/// the value, `into` those of the consumer's group so far. DecideFusion returns the reason for or
/// against one kernel for both groups; PlanFusion checks costs, cycles and sizes.
struct FusionQuestion {
  ValueId value;
  const GroupTraits& producer;
  const Node& consumer;
  const GroupTraits& into;
  const std::vector<NodeId>& users;  // users of the value
};
FusionReason DecideFusion(const Graph& graph, const FusionQuestion& question);

}  // namespace tunec
