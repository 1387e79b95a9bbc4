// The instrumentation of kernels, which reports accesses to shared and global memory in advance.
#pragma once

#include "support/error.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace tunec::jit {

/// Names that checked kernels import. CheckEmulatedAccess and the functions after it
/// (checked_block.h) implement them.
inline constexpr const char* kAccessName = "tunec_emulated_access";
inline constexpr const char* kCopyName = "tunec_emulated_copy";
inline constexpr const char* kCommitName = "tunec_emulated_commit";
inline constexpr const char* kWaitName = "tunec_emulated_wait";

/// Inserts a call of kAccessName before each load and store of an EmulatedFunction. Masked
/// accesses, gathers and scatters get one call per lane. There is no call for memory that no other
/// thread changes: the thread's stack, constants, the list of arguments, and the EmulatedThread.
/// Calls of kCopyName (CarryOutLate) get their base addresses, site and name. Accesses with
/// kAccessMetadata are reported with names.
void InstrumentAccesses(llvm::Function& function);

}  // namespace tunec::jit
