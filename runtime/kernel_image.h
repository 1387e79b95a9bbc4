// The image of a kernel: its compiled code as plain data. A code generator makes images, the
// database stores them, and a device or the host loads them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec {

/// The format of the host's code: an ELF object that can be linked at any address.
inline constexpr std::string_view kElfFormat = "elf";

/// The function of an image that computes one phase, and the blocks for which it is launched. The
/// next phase starts when all blocks are done. Each wave of a phase is a separate launch: wave w
/// has the blocks from w * Blocks() / waves on, counted with x fastest. No block of a wave starts
/// before all blocks of the previous wave are done. The format defines how the function receives
/// the blocks of its wave; a function of format "elf" is called with the number of its task.
struct PhaseLaunch {
  std::string symbol;
  std::array<int64_t, 3> grid = {1, 1, 1};   // blocks along x, y, z; for the host: tasks along x
  std::array<int64_t, 3> block = {1, 1, 1};  // threads per block along x, y, z; for the host: one
  int64_t waves = 1;                         // waves with the same number of blocks
  int64_t shared_bytes = 0;                  // bytes of shared memory per block
  int64_t registers = 0;                     // registers per thread; 0: not known
  int64_t spilled_bytes = 0;  // bytes spilled per thread, because registers do not suffice
  int64_t local_bytes = 0;    // bytes of device memory per thread, including spilled bytes

  int64_t Blocks() const { return grid[0] * grid[1] * grid[2]; }
  bool operator==(const PhaseLaunch&) const = default;
};

/// A compiled kernel. The image does not depend on a load address, so the image can be stored.
struct KernelImage {
  std::string format{kElfFormat};  // one word that names the loader of the bytes
  std::string bytes;
  std::vector<PhaseLaunch> phases;  // in the order of the nest's phases
  int64_t workspace_bytes = 0;      // shared by all phases
  int64_t scratch_bytes = 0;        // per thread of the host that runs tasks
  /// Warnings of the code generator; Serialize omits them.
  std::vector<std::string> warnings = {};
  bool operator==(const KernelImage&) const = default;
};

/// Returns a line of text, `tunec-object 4 FORMAT WORKSPACE SCRATCH PHASES BYTES`, then a line per
/// phase with its numbers in the order above and its symbol, then the bytes.
std::string Serialize(const KernelImage& image);
/// Parses an image. Fails with kParse for a wrong form or another version. `bytes` are not checked.
Result<KernelImage> ParseKernelImage(std::string_view text);

}  // namespace tunec
