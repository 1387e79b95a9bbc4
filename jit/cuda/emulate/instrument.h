// Kernels that tell each access to memory before they do it.
#pragma once

#include "support/error.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace tunec::jit {

/// What checked kernels import; CheckEmulatedAccess and its neighbours (checked_block.h) stand
/// behind it.
inline constexpr const char* kAccessName = "tunec_emulated_access";
inline constexpr const char* kCopyName = "tunec_emulated_copy";
inline constexpr const char* kCommitName = "tunec_emulated_commit";
inline constexpr const char* kWaitName = "tunec_emulated_wait";

/// Puts a call of kAccessName before each load and store of an EmulatedFunction, one for each lane
/// of masked ones, gathers and scatters. Left out is what no other thread sees: the thread's own
/// stack, constants, and what the function is called with. Asynchronous copies become calls of
/// kCopyName, kCommitName and kWaitName. Names are told where kAccessMetadata has them.
void InstrumentAccesses(llvm::Function& function);

}  // namespace tunec::jit
