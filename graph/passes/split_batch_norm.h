#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Writes a batch normalisation whose parameters are computed while the model runs as
///     (x - mean) * (scale / sqrt(variance + epsilon)) + bias.
/// A root and a division are then computed once for each channel, not for each element. The mean is
/// subtracted first, so that a large one costs no precision. Returns nothing where the types of x
/// and of the parameters differ, or are narrow floats.
Result<std::optional<ValueId>> SplitBatchNorm(const Node& node, const std::vector<ValueId>& inputs,
                                              GraphBuilder& builder);

}  // namespace tunec
