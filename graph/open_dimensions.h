// A check for dimensions that have names but no sizes yet, and a sentence for messages about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "graph/graph.h"

namespace tunec {

/// Checks that all dimensions are fixed, and all attributes (RequireFixedAttributes). Fails with
/// kUnsupported if a value has an open dimension. The message names the first such value, all open
/// dimensions, and the option for sizes.
Status RequireFixedSizes(const Graph& graph);
/// Checks that no attribute contains a named size, also in nested graphs. Passes, lowerings and
/// exporters need numbers there. Fails with kUnsupported, and a message as above.
Status RequireFixedAttributes(const Graph& graph);
/// Checks that no size is negative.
Status RequireSizes(const SizeValues& sizes);

/// Sizes of dimensions by name, used where none are given.
using DefaultSizes = std::map<std::string, int64_t>;

/// Returns the default size of a dynamic axis: 1 for the first axis, 224 for the last axes of
/// images and 16 for other axes. 224 is a multiple of 32, because many models halve an image up to
/// five times.
int64_t DefaultSizeOf(size_t axis, size_t rank);
/// Returns default sizes of all named sizes of the graph's inputs.
DefaultSizes DefaultSizesOf(const Graph& graph);

/// Returns text that says how the command, Python and C give sizes to these dimensions.
std::string DescribeSizeOptions(std::span<const std::string> names);

}  // namespace tunec
