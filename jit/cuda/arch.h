// What kinds of NVIDIA GPUs there are for code.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// The word for such devices in Target::Kind().
inline constexpr std::string_view kCudaKind = "cuda";

/// The feature of a device that the host stands in for: kernels are emulated.
inline constexpr std::string_view kEmulated = "emulated";
/// The feature of an emulated device that ends the process where a kernel does what a GPU would do
/// something undefined at.
inline constexpr std::string_view kChecked = "checked";

/// Whether the host stands in for the device.
inline bool IsEmulated(const Accelerator& device) {
  return device.features.contains(std::string(kEmulated));
}

/// Limits of one compute capability, as "CUDA C++ Programming Guide", table "Technical
/// Specifications per Compute Capability", gives them.
struct CudaArch {
  std::string_view name;           // as ptxas and LLVM call it: "sm_90a"
  std::string_view capability;     // "9.0"
  int ptx_version = 0;             // 10 * major + minor of the oldest PTX that knows it
  int64_t block_shared_bytes = 0;  // of one block at most
  int64_t shared_bytes = 0;        // of all blocks of one processor
  int resident_threads = 0;        // of one processor at most
  int resident_blocks = 0;
  int multiply_adds = 0;  // of float32, that one processor starts in a clock

  /// Whether it has what no later arch keeps, as names in `a` say.
  bool IsSpecific() const { return name.ends_with('a'); }
};

/// One GPU that is sold. Its numbers are those that are published, the clock at its highest; none
/// is measured.
struct CudaPart {
  std::string_view name;        // "h100"
  std::string_view capability;  // "9.0"
  int processors = 0;
  int64_t l2_bytes = 0;
  int64_t bytes_per_second = 0;
  int64_t clock_hertz = 0;
  // Multiply-adds of tensor cores that one processor starts in a clock, with sums of 32 bits.
  int matrix_f16 = 0;  // and bf16; of TF32 half as many
  int matrix_i8 = 0;
};

/// All that code is generated for, oldest first.
std::span<const CudaArch> CudaArchs();
/// Null for another name.
const CudaArch* FindCudaArch(std::string_view name);

/// The features of an arch with those that it implies: of sm_90a "sm_80", "sm_86", "sm_89",
/// "sm_90", "sm_90a". What has an `a` is no part of a later arch.
std::set<std::string> CudaFeatures(const CudaArch& arch);

/// All known parts; the first of a capability is assumed where only an arch is named.
std::span<const CudaPart> CudaParts();

/// A device of that arch, for compiling without one. `part` empty: the assumed part, or none where
/// none of the arch is known, and then only the arch's limits are. kInvalidArgument with the names
/// that there are, also where the part is one of another arch.
Result<Accelerator> CudaAccelerator(std::string_view arch, std::string_view part = {});

}  // namespace tunec
