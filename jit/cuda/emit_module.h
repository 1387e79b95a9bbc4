// A nest as a module of kernels, before any back end.
#pragma once

#include <memory>
#include <vector>

#include "ir/loop_nest.h"
#include "jit/builder/builder.h"
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

/// For `machine`, the GPU's or, to be emulated, the host's. Requires: a nest that the generator's
/// MapThreads made. Errors: kUnsupported, kResourceLimit as CodeGenerator::Compile.
Result<CudaModule> EmitCudaModule(const LoopNest& nest, const llvm::TargetMachine& machine);

}  // namespace tunec::jit
