// The x86 TargetMachine of a Target, and LLVM's once-per-process set-up.
#pragma once

#include <memory>
#include <string>

#include "ir/target.h"
#include "support/error.h"

namespace llvm {
class TargetMachine;
}

namespace tunec::jit {

/// Registers the X86 back end; cheap after the first call.
void InitializeLlvm();
/// LLVM's feature string that turns on what the target has and off what it has not.
std::string FeatureString(const Target& target);
/// Deleting needs LLVM's header, hence the shared_ptr.
Result<std::shared_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target);

}  // namespace tunec::jit
