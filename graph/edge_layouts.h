// The adaptation of a model to callers whose tensors are not in row-major order.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "graph/graph.h"
#include "ir/axis_order.h"
#include "support/error.h"

namespace tunec {

/// Layouts of inputs and outputs by name, as text for ParseAxisOrder. Other tensors are row-major.
using EdgeLayouts = std::map<std::string, std::string>;

/// Returns the axis order of the input or output `name`, or an empty order if no layout is given or
/// the layout is row-major. Errors: those of ParseAxisOrder.
Result<AxisOrder> OrderOf(const EdgeLayouts& layouts, const std::string& name, size_t rank);

/// Returns the model for tensors with these layouts. An input that is not row-major gets the stored
/// shape (StoredShape), and a transpose restores the graph's shape. An output that is not row-major
/// is transposed to the stored shape. Errors: kInvalidArgument for a name that is not an input or
/// output; an error of ParseAxisOrder for an invalid layout. Requires: `graph` is verified.
Result<Graph> ApplyEdgeLayouts(const Graph& graph, const EdgeLayouts& layouts);

}  // namespace tunec
