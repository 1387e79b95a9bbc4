// A nest as a module of kernels, before any back end.
#pragma once

#include <memory>
#include <vector>

#include "ir/loop_nest.h"
#include "jit/builder/builder.h"
#include "jit/cuda/cuda_machine.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace llvm {
class TargetMachine;
}  // namespace llvm

namespace tunec::jit {

/// Kernels of one nest, and how they are launched.
struct CudaModule {
  std::unique_ptr<Builder> builder;  // has the module
  std::vector<PhaseLaunch> phases;
};

/// The generator's MapThreads: work of no thread becomes thread 0's, copies that complete later are
/// of one element each, and done at once where a GPU has no instruction for them.
LoopNest MapCudaThreads(const LoopNest& nest);

/// For `machine`, the GPU's or, to be emulated, the host's. Requires: a nest that MapCudaThreads
/// made. Errors: kUnsupported, kResourceLimit as CodeGenerator::Compile.
Result<CudaModule> EmitCudaModule(const LoopNest& nest, const llvm::TargetMachine& machine,
                                  AccessNames names = AccessNames::kNone);

}  // namespace tunec::jit
