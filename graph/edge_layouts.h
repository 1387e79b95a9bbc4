// A model for callers whose tensors do not lie in row-major order.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "graph/graph.h"
#include "ir/axis_order.h"
#include "support/error.h"

namespace tunec {

/// Of inputs and outputs, by their names, what ParseAxisOrder reads. Others are row-major.
using EdgeLayouts = std::map<std::string, std::string>;

/// Of the input or output of this name.
Result<AxisOrder> OrderOf(const EdgeLayouts& layouts, const std::string& name, size_t rank);

/// The model for tensors that lie so: an input has the shape in which it lies (LaidShape), and a
/// transpose makes of it what the graph had; an output goes out through a transpose, in the shape
/// in which it lies. kInvalidArgument for a name that is neither. Requires: verified. O(nodes).
Result<Graph> LayEdges(const Graph& graph, const EdgeLayouts& layouts);

}  // namespace tunec
