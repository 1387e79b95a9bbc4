// Operations on whole LLVM modules, for every machine.
#pragma once

#include <string>
#include <string_view>

#include "support/error.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tunec::jit {

/// Sets the machine's triple and data layout. Requires: an empty module.
void SetMachine(llvm::Module& module, const llvm::TargetMachine& machine);

/// Runs LLVM's verifier. Errors: kInternal, with the verifier's message. `writer` is the name of
/// the module's author, for example "the emitter".
Status VerifyModule(const llvm::Module& module, std::string_view writer);

/// Returns the module's text.
std::string PrintModule(const llvm::Module& module);

}  // namespace tunec::jit
