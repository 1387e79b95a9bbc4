// Lookup of the constant argument whose elements a `pack` step packs.
#pragma once

#include <optional>
#include <string>

#include "ir/compute.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

/// Returns the name of the constant argument whose elements the step packs. The step may also name
/// a tensor that another step makes from the argument (`w.bf16`). Returns nothing if the step packs
/// any other tensor.
std::optional<std::string> PackedConstant(const Compute& compute, const PackStep& pack);

}  // namespace tunec
