// A compiled kernel as plain data: what a code generator leaves, the database keeps and a device
// loads.
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

/// How one function of an image is started: for all blocks of a phase. The next one starts when
/// they are done. A phase of several waves is started once for each of them: wave w has the blocks
/// from w * Blocks() / waves on, counted with x fastest, and none of them starts before those of
/// the wave before are done. How the function is told which blocks its wave has is the format's
/// convention; of "elf", it is called with the number of its task.
struct PhaseLaunch {
  std::string symbol;
  std::array<int64_t, 3> grid = {1, 1, 1};   // blocks along x, y, z; of the host: tasks along x
  std::array<int64_t, 3> block = {1, 1, 1};  // threads of each along x, y, z; of the host: one
  int64_t waves = 1;                         // of equally many blocks
  int64_t shared_bytes = 0;                  // of each block
  int64_t registers = 0;                     // of each thread; 0: not known
  int64_t spilled_bytes = 0;                 // of each thread, for want of registers
  int64_t local_bytes = 0;  // of each thread, in the device's memory; the spilled ones among them

  int64_t Blocks() const { return grid[0] * grid[1] * grid[2]; }
  bool operator==(const PhaseLaunch&) const = default;
};

/// Self-contained and independent of the place it is loaded to, fit for storing.
struct KernelImage {
  std::string format{kElfFormat};  // one word: who can load the bytes
  std::string bytes;
  std::vector<PhaseLaunch> phases;  // in the order of the nest's
  int64_t workspace_bytes = 0;      // shared by all phases
  int64_t scratch_bytes = 0;        // of each thread of the host that runs tasks
  /// Of who made it; Serialize leaves them out.
  std::vector<std::string> warnings = {};
  bool operator==(const KernelImage&) const = default;
};

/// A line of text, `tunec-object 4 FORMAT WORKSPACE SCRATCH PHASES BYTES`; for each phase a line
/// of its numbers in the order above and its symbol; then the bytes.
std::string Serialize(const KernelImage& image);
/// The inverse. kParse when it is damaged or of another version.
Result<KernelImage> ParseKernelImage(std::string_view text);

}  // namespace tunec
