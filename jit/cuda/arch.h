// Tables of the NVIDIA GPU architectures and products for which code is generated.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// The kind of NVIDIA GPUs, as Target::Kind() returns it.
inline constexpr std::string_view kCudaKind = "cuda";

/// The feature of a device that the host emulates.
inline constexpr std::string_view kEmulated = "emulated";
/// The feature of an emulated device in checked mode. In this mode, an access out of bounds, a race
/// or another error that checked_block.h lists ends the process.
inline constexpr std::string_view kChecked = "checked";

/// Returns whether the host emulates the device.
inline bool IsEmulated(const Accelerator& device) {
  return device.features.contains(std::string(kEmulated));
}

/// A GPU architecture. Its limits are from "CUDA C++ Programming Guide", table "Technical
/// Specifications per Compute Capability".
struct CudaArch {
  std::string_view name;        // name in ptxas and LLVM: "sm_90a"
  std::string_view capability;  // "9.0"
  int ptx_version = 0;  // 10 * major + minor of the oldest PTX version that supports the arch
  int64_t block_shared_bytes = 0;  // maximum of one block
  int64_t shared_bytes = 0;        // total of all blocks of one processor
  int resident_threads = 0;        // maximum of one processor
  int resident_blocks = 0;
  int multiply_adds = 0;  // float32 multiply-adds that one processor starts per clock

  /// Returns whether the arch has features that later archs do not have (names that end in `a`).
  bool IsSpecific() const { return name.ends_with('a'); }
};

/// A GPU product. Its numbers are based on published ones (arch.cc). The clock is the highest one.
struct CudaPart {
  std::string_view name;        // "h100"
  std::string_view capability;  // "9.0"
  int processors = 0;
  int64_t l2_bytes = 0;
  int64_t bytes_per_second = 0;
  int64_t clock_hertz = 0;
  // Tensor core multiply-adds that one processor starts per clock, with sums of 32 bits.
  int matrix_f16 = 0;  // also for bf16; TF32 has half as many
  int matrix_i8 = 0;
};

/// Returns all archs that code is generated for, by ascending compute capability.
std::span<const CudaArch> CudaArchs();
/// Returns the arch of that name; null if the name is unknown.
const CudaArch* FindCudaArch(std::string_view name);

/// Returns the features of an arch and of the archs that it includes: for sm_90a "sm_80", "sm_86",
/// "sm_89", "sm_90", "sm_90a". Later archs do not include an arch whose name ends in `a`.
std::set<std::string> CudaFeatures(const CudaArch& arch);

/// Returns all known parts. CudaAccelerator assumes the first part of the arch's capability.
std::span<const CudaPart> CudaParts();

/// Returns a device of that arch. No GPU is needed. An empty `part` selects the assumed part; if no
/// part of the arch is known, only facts of the arch are set. Fails with kInvalidArgument for an
/// unknown name and for a part of another compute capability. The message has the known names.
Result<Accelerator> CudaAccelerator(std::string_view arch, std::string_view part = {});

}  // namespace tunec
