// Descriptions of the kernels of a code image and their requirements. The descriptions are part of
// the code section. They are trusted like the code, because nobody can check which memory machine
// code accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/data_type.h"
#include "support/error.h"

namespace tunec::bundle {

/// The inclusive range of integers that code uses as indices without a check.
struct TrustedRange {
  DataType type = DataType::kI64;
  int64_t least = 0;
  int64_t most = 0;
  bool operator==(const TrustedRange&) const = default;
};

/// The requirements that a kernel has for one argument.
struct ArgumentContract {
  int64_t bytes = 0;      // bytes that the kernel may access
  int64_t alignment = 1;  // a power of two up to 64
  bool written = false;
  /// Range that contains all elements of the argument; none: the kernel does not rely on a range.
  std::optional<TrustedRange> range = std::nullopt;
  bool operator==(const ArgumentContract&) const = default;
};

/// A phase of a kernel: its tasks run in `waves` waves of equal size (KernelPhase,
/// runtime/kernel.h).
struct PhaseContract {
  uint64_t entry = 0;  // offset of the phase's function in the image
  int64_t tasks = 1;
  int64_t waves = 1;
  bool operator==(const PhaseContract&) const = default;
};

/// A kernel's entry in the table: the phases, the memory that a run needs, and the arguments.
struct KernelContract {
  std::vector<PhaseContract> phases;  // empty for a device's kernel, see device_code.h
  int64_t workspace_bytes = 0;
  int64_t scratch_bytes = 0;
  std::vector<ArgumentContract> arguments;
  /// Pairs of arguments that may share memory, as in Step::in_place.
  std::vector<std::pair<int32_t, int32_t>> in_place = {};
  bool operator==(const KernelContract&) const = default;
};

/// Returns the table as bytes.
std::string Serialize(const std::vector<KernelContract>& kernels);
/// Parses a table. Fails with kParse if it is damaged.
Result<std::vector<KernelContract>> ParseCodeTable(std::span<const std::byte> bytes);

/// Returns the bytes of a section of code: the table's size, the table, zeros up to the next page,
/// and the image.
std::string CodeSection(const std::vector<KernelContract>& kernels, std::string_view image);

struct CodeParts {
  std::vector<KernelContract> kernels;
  size_t image_offset = 0;  // offset in the section, a multiple of a page
  size_t image_bytes = 0;
};
/// Parses a section of code. Fails with kParse if it is damaged, or if a phase begins outside the
/// image.
Result<CodeParts> ParseCodeSection(std::span<const std::byte> section);

}  // namespace tunec::bundle
