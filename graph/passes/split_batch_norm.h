#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Splits a batch normalisation whose parameters are computed at run time into
///     (x - mean) * (scale / sqrt(variance + epsilon)) + bias.
/// Root and division are then computed once per channel instead of once per element. The mean is
/// subtracted first, so that a large mean costs no precision. Returns nullopt if the types of x and
/// of the parameters differ, or are narrow floats.
Result<std::optional<ValueId>> SplitBatchNorm(const Node& node, const std::vector<ValueId>& inputs,
                                              GraphBuilder& builder);

}  // namespace tunec
