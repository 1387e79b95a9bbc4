// Which constant of a Compute a step packs.
#pragma once

#include <optional>
#include <string>

#include "ir/compute.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

/// The name of the constant argument that the step orders, or of which another step makes what it
/// orders (`w.bf16`). None: it orders something else.
std::optional<std::string> PackedConstant(const Compute& compute, const PackStep& pack);

}  // namespace tunec
