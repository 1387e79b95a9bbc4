// The decision behind fusion: may the group that makes a value take in its consumer?
#pragma once

#include <optional>
#include <vector>

#include "graph/fuse/fusion_reason.h"
#include "graph/graph.h"

namespace tunec {

/// The rows a reduction walks: it reduces `axes` of values of this shape.
struct RowSpace {
  std::vector<int64_t> shape;
  std::vector<bool> axes;
  bool operator==(const RowSpace&) const = default;
};

/// The rows of a reduction, softmax or normalisation over whole axes; nothing for others.
std::optional<RowSpace> RowsOf(const Graph& graph, const Node& node);

/// What a group's kernel is about. A group has at most one anchor; of two contractions in a chain
/// it is the last.
struct GroupTraits {
  enum class Anchor { kNone, kContraction, kRows, kWindows, kScatter, kOpaque };
  Anchor anchor = Anchor::kNone;
  NodeId contraction;            // of kContraction: the one whose sums the kernel ends with
  std::optional<RowSpace> rows;  // of kRows
  bool only_renames = true;      // every node is an affine index map (transpose, reshape, slice)
  int nodes = 0;
  double operations = 0;  // of all elements, as often as they are computed
  double parts = 0;       // tasks the anchor leaves; 0: as many as there are elements
};

GroupTraits TraitsOf(const Graph& graph, const Node& node);
/// Of the union; at most one of them has an anchor, or both walk the same rows, or they are a chain
/// of contractions. `times`: how often
/// each element that the producer makes is computed then.
GroupTraits Merge(const GroupTraits& producer, const GroupTraits& into, double times = 1);

/// Whether the two compute in the same loops, as far as their anchors tell: elementwise, or
/// reductions over the same rows.
bool AreSiblings(const GroupTraits& a, const GroupTraits& b);

/// The edge from `value`, made in `producer`, to `consumer`, whose group so far is `into`.
/// Only whether one kernel can do both: costs, cycles and sizes are not its concern.
struct FusionQuestion {
  ValueId value;
  const GroupTraits& producer;
  const Node& consumer;
  const GroupTraits& into;
  const std::vector<NodeId>& users;  // of the value
};
FusionReason Judge(const Graph& graph, const FusionQuestion& question);

}  // namespace tunec
