// Values without separate storage. A concatenation needs no kernel if its operands are written into
// its storage. A reshape, transpose or slice needs no kernel if its readers can read the source
// directly.
#pragma once

#include <vector>

#include "graph/fuse/fusion_plan.h"

namespace tunec {

struct ViewPlan {
  std::vector<StorageView> views;  // sorted by the id of the value
  std::vector<NodeId> nodes;       // nodes that need no kernel, in graph order
};

/// Returns the values without separate storage and the nodes without a kernel, for the grouping of
/// `plan`. The costs of existing views are not checked again. A concatenation becomes a view if all
/// non-empty operands can be written into its storage and this costs no more than a kernel. A group
/// of reshapes, transposes and slices can become a view if rows stay contiguous. A slice of a
/// stored value can become a view if its elements are contiguous and at least two groups slice this
/// value to the same shape. Then the texts of these groups do not depend on the offsets of their
/// slices, and the groups may be equal. Ensures: no graph output is a view; owners have separate
/// storage; two views share an element of the owner only if this element has the same value in
/// both. O(nodes + operands).
ViewPlan PlanViews(const Graph& graph, const FusionPlan& plan);

}  // namespace tunec
