// Functions on whole LLVM modules, for all kinds of targets.
#pragma once

#include <string>
#include <string_view>

#include "support/error.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tunec::jit {

/// Sets the triple and the data layout of the machine in an empty module.
void SetMachine(llvm::Module& module, const llvm::TargetMachine& machine);

/// Runs LLVM's verifier. Fails with kInternal and the verifier's message if the module is invalid.
/// `writer` says in the message what wrote the module, for example "the emitter".
Status VerifyModule(const llvm::Module& module, std::string_view writer);

/// Returns the module's text.
std::string PrintModule(const llvm::Module& module);

}  // namespace tunec::jit
