// GPU kernels on the host: the same LLVM module, each thread of a block on a stack of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "ir/loop_nest.h"
#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// The format of images for the emulation: an ELF object of the host.
inline constexpr std::string_view kEmulatedFormat = "cuda-emulated";

/// What the generator for CUDA makes of the nest, for this machine's processor. Requires: a nest
/// that its MapThreads made. Errors: as CodeGenerator::Compile.
Result<KernelImage> CompileEmulated(const LoopNest& nest);

/// A loaded image. It finds what a GPU would do something undefined at: a barrier that not all
/// threads of a block reach, or that they reach at different places. Shared memory begins as NaN.
class EmulatedKernel {
 public:
  /// kParse for code of another format, else as LoadKernel.
  static Result<EmulatedKernel> Load(const KernelImage& image);

  /// Runs all launches, block by block in order, on the caller's thread. `arguments` are the
  /// nest's, `workspace` has image.workspace_bytes. Errors: kDevice for what is said above.
  Status Run(void* const* arguments, void* workspace) const;

 private:
  EmulatedKernel(KernelImage image, Kernel kernel);
  KernelImage image_;
  Kernel kernel_;
};

}  // namespace tunec
