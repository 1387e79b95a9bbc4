// Whether dimensions that are said to be separable are: a run may be done in parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/pad/sized_model.h"

namespace tunec::fuzz {

/// For each separable dimension, some positions of the inputs change places and the others get
/// other elements: the outputs at the former are to change places alike. Empty: they do.
std::string SeparableProblem(const SizedModel& model, const std::vector<OpenAxis>& open,
                             const PaddedGraph& padded, std::span<const Array> inputs,
                             uint64_t seed);

}  // namespace tunec::fuzz
