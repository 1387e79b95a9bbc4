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

/// One function of an image. The next one starts when all of its blocks are done.
struct KernelLaunch {
  std::string symbol;
  std::array<int64_t, 3> grid = {1, 1, 1};   // blocks along x, y, z; of the host: tasks along x
  std::array<int64_t, 3> block = {1, 1, 1};  // threads of each along x, y, z; of the host: one
  int64_t waves = 1;                         // of Blocks() / waves each, with a barrier between two
  int64_t shared_bytes = 0;                  // of each block
  int64_t registers = 0;                     // of each thread; 0: not known

  int64_t Blocks() const { return grid[0] * grid[1] * grid[2]; }
  bool operator==(const KernelLaunch&) const = default;
};

/// Self-contained and independent of the place it is loaded to, fit for storing.
struct KernelImage {
  std::string format{kElfFormat};  // one word: who can load the bytes
  std::string bytes;
  std::vector<KernelLaunch> launches;  // in the order of the nest's phases
  int64_t workspace_bytes = 0;         // shared by all launches
  int64_t scratch_bytes = 0;           // of each thread of the host that runs tasks
  bool operator==(const KernelImage&) const = default;
};

/// A line of text, `tunec-object 3 FORMAT WORKSPACE SCRATCH LAUNCHES BYTES`; for each launch a line
/// of its numbers in the order above and its symbol; then the bytes.
std::string Serialize(const KernelImage& image);
/// The inverse. Version 2 is read as well: it has no FORMAT, and its lines are `TASKS WAVES
/// SYMBOL`. kParse when it is damaged or of another version.
Result<KernelImage> ParseKernelImage(std::string_view text);

}  // namespace tunec
