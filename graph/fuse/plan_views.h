// Values without separate storage. A concatenation needs no kernel if its operands are written into
// its storage. A reshape or slice needs no kernel if its readers can read the source directly.
#pragma once

#include <vector>

#include "graph/fuse/fusion_plan.h"

namespace tunec {

struct ViewPlan {
  std::vector<StorageView> views;  // sorted by the id of the value
  std::vector<NodeId> nodes;       // nodes that need no kernel, in graph order
};

/// Returns the values without separate storage and the nodes without a kernel, for the grouping of
/// `plan`. Existing views stay views. A concatenation becomes a view if all operands can be written
/// in place and this costs no more than a kernel. Each operand then needs a separate kernel. A
/// group of reshapes, transposes and slices becomes a view if rows stay contiguous. A slice of a
/// stored value becomes a view if its elements are contiguous and at least two groups read slices
/// of this value with this shape. Then the texts of these groups do not depend on the offsets of
/// their slices, and the groups may be equal. Ensures: no graph output is a view; owners have
/// separate storage; views of one owner share elements only if their values are equal. O(nodes +
/// operands).
ViewPlan PlanViews(const Graph& graph, const FusionPlan& plan);

}  // namespace tunec
