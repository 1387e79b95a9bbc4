// Functions that return the sketches and the Computes of the sums of tests/programs/long_sums.h.
#pragma once

#include <optional>
#include <vector>

#include "schedule/sketch.h"
#include "tests/programs/long_sums.h"

namespace tunec::test {

/// Returns the sketches of the lowering `direct`, and of `winograd` if the sum has this lowering.
std::vector<Sketch> SketchesOf(const LongSum& sum, const Target& target,
                               const RoundingFreedom& rounding);
/// Returns the first sketch whose name has the prefix `sum.sketch`, or nothing. The sketch may
/// reorder additions.
std::optional<Sketch> SketchOf(const LongSum& sum, const Target& target);
/// Returns the Compute that the schedule's lowering names.
Compute ComputeOf(const LongSum& sum, const Schedule& schedule);

}  // namespace tunec::test
