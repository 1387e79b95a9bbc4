// The feature of targets that run AMX tiles as vector code.
#pragma once

namespace tunec {

/// The name of a feature that no processor has. A target with this feature accepts all AMX tiles,
/// and vector code computes them instead of AMX instructions (docs/decisions/0023_emulated_amx.md).
inline constexpr const char* kAmxEmulated = "amx-emulated";

}  // namespace tunec
