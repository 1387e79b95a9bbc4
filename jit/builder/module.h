// What is done to a whole LLVM module, whoever it is for.
#pragma once

#include <string>
#include <string_view>

#include "support/error.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tunec::jit {

/// Gives it the machine's triple and data layout: before anything is written into it.
void SetMachine(llvm::Module& module, const llvm::TargetMachine& machine);

/// kInternal, with what LLVM's verifier says. `writer`: who wrote the module, "the emitter".
Status VerifyModule(const llvm::Module& module, std::string_view writer);

/// Its text.
std::string PrintModule(const llvm::Module& module);

}  // namespace tunec::jit
