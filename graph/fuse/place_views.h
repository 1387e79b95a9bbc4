// Values without storage of their own. A concatenation whose operands are written where they
// belong needs no kernel, nor does a reshape or slice that its readers can read in place.
#pragma once

#include <vector>

#include "graph/fuse/fusion_plan.h"

namespace tunec {

struct ViewPlan {
  std::vector<StorageView> views;  // by value
  std::vector<NodeId> nodes;       // that need no kernel, in graph order
};

/// What need not be computed or stored by itself when the graph is grouped as in `plan`; what is
/// a view there stays one. A concatenation is a view when that costs no more than the kernel it is
/// part of: each operand needs a kernel of its own then. Data movement alone in its group is one
/// when rows stay contiguous. A slice of a value that is stored anyway is one when its elements lie
/// side by side and other groups read other pieces of the same shape: these groups' texts do not
/// depend on where their pieces lie. Ensures: no graph output is a view; owners have storage of
/// their own; views of one owner share elements only where their values are the same. O(nodes +
/// operands).
ViewPlan PlaceViews(const Graph& graph, const FusionPlan& plan);

}  // namespace tunec
