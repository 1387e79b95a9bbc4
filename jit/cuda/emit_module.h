// The emission of a nest as an LLVM module of kernels, which a back end then compiles.
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

/// The kernels of one nest, and their launches.
struct CudaModule {
  std::unique_ptr<Builder> builder;  // owns the module
  std::vector<PhaseLaunch> phases;
};

/// Emits kernels for `machine`, which is the GPU, or the host for emulation. CudaStages must have
/// rewritten the nest. Fails with kUnsupported or kResourceLimit like CodeGenerator::Compile.
Result<CudaModule> EmitCudaModule(const LoopNest& nest, const llvm::TargetMachine& machine,
                                  AccessNames names = AccessNames::kNone);

}  // namespace tunec::jit
