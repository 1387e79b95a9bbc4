// The emulation of GPU kernels on the host. The kernels' LLVM module is compiled for the host, and
// each thread of a block has a separate stack.
#pragma once

#include <memory>
#include <string_view>

#include "ir/loop_nest.h"
#include "jit/cuda/emulate/emulated_thread.h"
#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// True if this build supports emulation. AddressSanitizer and ThreadSanitizer do not support the
/// stacks of the emulated threads.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kEmulates = false;
#else
inline constexpr bool kEmulates = true;
#endif

/// The format of images for the emulation. Such an image is an ELF object of the host.
inline constexpr std::string_view kEmulatedFormat = "cuda-emulated";

/// Compiles the nest as the CUDA generator does, for this machine's processor. In checked mode, the
/// kernel ends the process at the errors of CheckedBlock and CheckOtherBlocks. Global memory has
/// bounds only in a CheckedRegion (regions.h). The generator's Stages must have rewritten the nest.
/// Fails like CodeGenerator::Compile.
Result<KernelImage> CompileEmulated(const LoopNest& nest,
                                    EmulationMode mode = EmulationMode::kPlain);

/// Returns a kernel whose tasks are blocks. Shared memory of a block is initially NaN. The process
/// ends with a message at the errors of RunEmulatedBlock (block.h), for example if threads of a
/// block wait at different barriers. Fails with kParse for code of another format, and otherwise
/// like LoadKernel.
Result<Kernel> LoadEmulated(const KernelImage& image, PerfMap perf_map = PerfMap::kOff);

/// Creates a device that emulates a GPU on the host. Blocks run on the pool's threads; the pool
/// must outlive the device. The device's memory is the program's memory, registered for checked
/// kernels. The times of its kernels are not those of a GPU.
std::unique_ptr<Device> MakeEmulatedDevice(ThreadPool& pool, PerfMap perf_map);

}  // namespace tunec
