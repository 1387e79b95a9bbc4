// The generation of machine code from LLVM IR, as bytes of an object or as text.
#pragma once

#include <string>

#include "support/error.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tunec::jit {

enum class FileKind { kAssembly, kObject };

/// Returns the object or the assembly of a module. LLVM's verifier must accept the module, which
/// must have the machine's triple and data layout. Code generation changes the module.
Result<std::string> GenerateCode(llvm::Module& module, llvm::TargetMachine& machine, FileKind kind);

}  // namespace tunec::jit
