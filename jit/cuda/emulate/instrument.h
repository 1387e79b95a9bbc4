// Kernels that tell each access to memory before they do it.
#pragma once

#include "support/error.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace tunec::jit {

/// What checked kernels import; CheckEmulatedAccess stands behind it.
inline constexpr const char* kAccessName = "tunec_emulated_access";

/// Puts a call of kAccessName before each load and store of an EmulatedFunction, one for each lane
/// of masked ones, gathers and scatters. Left out is what no other thread sees: the thread's own
/// stack, constants, and what the function is called with.
void InstrumentAccesses(llvm::Function& function);

}  // namespace tunec::jit
