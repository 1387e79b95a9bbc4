// The feature of targets that have AMX as vector code.
#pragma once

namespace tunec {

/// A feature that no processor has. A target with it has all of AMX, and none of its instructions
/// (docs/decisions/0023_emulated_amx.md).
inline constexpr const char* kAmxEmulated = "amx-emulated";

}  // namespace tunec
