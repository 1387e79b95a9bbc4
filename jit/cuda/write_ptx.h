// The translation of LLVM IR to PTX, the assembly language of NVIDIA's virtual machine.
#pragma once

#include <memory>
#include <string>

#include "jit/cuda/arch.h"
#include "support/error.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tunec::jit {

/// Returns LLVM's back end for the arch. Fails with kInternal if libLLVM has no such back end.
Result<std::shared_ptr<llvm::TargetMachine>> MakeNvptxMachine(const CudaArch& arch);

/// Optimises the module (-O2) and returns its PTX. LLVM's verifier must accept the module, which
/// must have the machine's triple and data layout. Fails with kInternal if LLVM cannot write PTX.
/// LLVM ends the process for an intrinsic that the arch lacks.
Result<std::string> WritePtx(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tunec::jit
