// Code generation: LLVM IR -> machine code, as bytes of an object or as text.
#pragma once

#include <string>

#include "support/error.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tunec::jit {

enum class FileKind { kAssembly, kObject };

/// Generates code. Requires: a module that LLVM's verifier accepts, with the machine's triple and
/// data layout.
Result<std::string> GenerateCode(llvm::Module& module, llvm::TargetMachine& machine, FileKind kind);

}  // namespace tunec::jit
