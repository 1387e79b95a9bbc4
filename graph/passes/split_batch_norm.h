#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Adds the primitives of a batch normalisation with computed parameters, and returns their result
///     (x - mean) * (scale / sqrt(variance + epsilon)) + bias.
/// The square root and the division are then computed once per channel, not per element. The mean
/// is subtracted first, so that a large mean does not cost precision. Returns nothing if the types
/// of x and of the parameters differ or are 16-bit floats, or if the number of channels is dynamic.
Result<std::optional<ValueId>> SplitBatchNorm(const Node& node, const std::vector<ValueId>& inputs,
                                              GraphBuilder& builder);

}  // namespace tunec
