// GPU kernels on the host: the same LLVM module, each thread of a block on a stack of its own.
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

/// Sanitizers of addresses and of threads do not know the emulation's stacks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kEmulates = false;
#else
inline constexpr bool kEmulates = true;
#endif

/// The format of images for the emulation: an ELF object of the host.
inline constexpr std::string_view kEmulatedFormat = "cuda-emulated";

/// What the generator for CUDA makes of the nest, for this machine's processor. In checked mode it
/// ends the process at races, at reads of shared memory that nobody wrote and, where CheckedRegion
/// (regions.h) tells sizes, at accesses out of bounds. Requires: a nest that the generator's
/// MapThreads made. Errors: as CodeGenerator::Compile.
Result<KernelImage> CompileEmulated(const LoopNest& nest,
                                    EmulationMode mode = EmulationMode::kPlain);

/// A kernel whose tasks are blocks. Shared memory of a block begins as NaN. Code that a GPU would
/// do something undefined at ends the process with a message: a barrier that not all threads of a
/// block reach, or that they reach at different places. kParse for code of another format, else as
/// LoadKernel.
Result<Kernel> LoadEmulated(const KernelImage& image, PerfMap perf_map = PerfMap::kOff);

/// The host in a GPU's place: blocks run on the pool's threads, which outlives it. Its memory is
/// the program's own, known to checked kernels, and its times say nothing of a GPU.
std::unique_ptr<Device> MakeEmulatedDevice(ThreadPool& pool, PerfMap perf_map);

}  // namespace tunec
