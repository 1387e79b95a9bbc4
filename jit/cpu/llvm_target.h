// LLVM's X86 back end as the host's code uses it: everything about the triple, the processors'
// names and the features stands here once.
#pragma once

#include <memory>
#include <string>

#include "ir/target.h"
#include "support/error.h"

namespace llvm {
class MCSubtargetInfo;
class Target;
class TargetMachine;
class Triple;
}  // namespace llvm

namespace tunec::jit {

/// What all code of the host is for.
llvm::Triple HostTriple();
/// LLVM's back end for it, registered once for the process. kInternal when LLVM has none.
Result<const llvm::Target*> FindX86();
/// Whether LLVM knows a processor of that name. It prints to stderr when it is asked for others.
bool IsKnownCpu(const llvm::Target& x86, const std::string& cpu);
/// What LLVM knows of a processor, with `features` (LLVM's "+a,-b") besides its own. Deleting needs
/// LLVM's header, hence the shared_ptr, here and below. Requires: IsKnownCpu.
std::shared_ptr<llvm::MCSubtargetInfo> MakeSubtarget(const llvm::Target& x86,
                                                     const std::string& cpu,
                                                     const std::string& features);
/// LLVM's feature string that turns on what the host has and off what it has not.
std::string FeatureString(const Host& host);
/// An error of this code when the host lacks a feature that all our code uses.
Status CheckNeededFeatures(const Host& host, ErrorCode code);

Result<std::shared_ptr<llvm::TargetMachine>> MakeTargetMachine(const Host& host);

}  // namespace tunec::jit
