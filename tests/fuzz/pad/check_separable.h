// A check that a run can be split along dimensions that are declared splittable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/pad/sized_model.h"

namespace tunec::fuzz {

/// Permutes some positions of the inputs along a splittable dimension, and gives the others new
/// elements. The same positions of the outputs must be permuted in the same way. Repeats this for
/// most splittable dimensions. Returns the first difference or error, or an empty string.
std::string SeparableProblem(const SizedModel& model, const std::vector<OpenAxis>& open,
                             const PaddedGraph& padded, std::span<const Array> inputs,
                             uint64_t seed);

}  // namespace tunec::fuzz
