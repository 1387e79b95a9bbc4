// Functions that set up LLVM's X86 back end for the host. Only these functions define the host's
// target triple and write LLVM's feature strings.
#pragma once

#include <cstdint>
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

/// Returns the triple of all code for the host.
llvm::Triple HostTriple();
/// Returns LLVM's back end for the host, which the first call registers. Fails with kInternal if
/// LLVM has none.
Result<const llvm::Target*> FindX86();
/// Returns whether LLVM has a processor of that name. Call this function before MakeSubtarget,
/// because LLVM prints to stderr for unknown names.
bool IsKnownCpu(const llvm::Target& x86, const std::string& cpu);
/// Returns LLVM's description of a processor, changed by `features` (LLVM's "+a,-b"). The result is
/// a shared_ptr because deleting it requires LLVM's header. Requires IsKnownCpu(x86, cpu).
std::shared_ptr<llvm::MCSubtargetInfo> MakeSubtarget(const llvm::Target& x86,
                                                     const std::string& cpu,
                                                     const std::string& features);
/// Returns LLVM's text that enables the features of kFeaturesThatMatter that the host has, and
/// disables the others.
std::string FeatureString(const Host& host);
/// Checks whether the host has all of kFeaturesNeeded. Fails with `code` if not.
Status CheckNeededFeatures(const Host& host, ErrorCode code);

enum class Optimisation : uint8_t {
  kFull,
  kNone,  // a short time of compilation instead
};

/// Returns LLVM's machine for the host. The machine belongs to the calling thread, which retains
/// one machine per optimisation: that of the latest processor and features. Fails with kDevice if
/// the host lacks needed features, and with kInvalidArgument for an unknown processor.
Result<std::shared_ptr<llvm::TargetMachine>> GetTargetMachine(const Host& host,
                                                              Optimisation optimisation);

}  // namespace tunec::jit
