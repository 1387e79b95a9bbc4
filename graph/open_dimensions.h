// A check for dimensions that have names but no sizes yet, and a sentence for messages about them.
#pragma once

#include <span>
#include <string>

#include "graph/graph.h"

namespace tunec {

/// Checks that all dimensions are fixed. Fails with kUnsupported if a value has an open dimension.
/// The message names the value, all open dimensions, and the option for sizes. O(values).
Status RequireFixedSizes(const Graph& graph);

/// Returns a sentence that says how each interface gives sizes to these dimensions.
std::string DescribeSizeOptions(std::span<const std::string> names);

}  // namespace tunec
