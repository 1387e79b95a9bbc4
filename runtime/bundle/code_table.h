// What the kernels of a code image are and what they ask for. It stands in the section of the code
// and is believed as the code is: nobody can tell from the outside what machine code touches.
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

/// The integers that code uses as indices without looking whether they are in range.
struct TrustedRange {
  DataType type = DataType::kI64;
  int64_t least = 0;
  int64_t most = 0;
  bool operator==(const TrustedRange&) const = default;
};

struct ArgumentContract {
  int64_t bytes = 0;      // that the kernel may touch
  int64_t alignment = 1;  // a power of two up to 64
  bool written = false;
  /// All elements of the argument lie in it.
  std::optional<TrustedRange> range = std::nullopt;
  bool operator==(const ArgumentContract&) const = default;
};

struct PhaseContract {
  uint64_t entry = 0;  // of the phase's function in the image
  int64_t tasks = 1;
  int64_t waves = 1;
  bool operator==(const PhaseContract&) const = default;
};

struct KernelContract {
  std::vector<PhaseContract> phases;  // of a device's kernel: none, see device_code.h
  int64_t workspace_bytes = 0;
  int64_t scratch_bytes = 0;
  std::vector<ArgumentContract> arguments;
  /// Arguments that may be one storage: Step::in_place.
  std::vector<std::pair<int32_t, int32_t>> in_place = {};
  bool operator==(const KernelContract&) const = default;
};

std::string Serialize(const std::vector<KernelContract>& kernels);
/// The inverse. kParse when it is damaged.
Result<std::vector<KernelContract>> ParseCodeTable(std::span<const std::byte> bytes);

/// A section of code: the table's size, the table, zeros up to a page, the image.
std::string CodeSection(const std::vector<KernelContract>& kernels, std::string_view image);

struct CodeParts {
  std::vector<KernelContract> kernels;
  size_t image_offset = 0;  // in the section, a multiple of a page
  size_t image_bytes = 0;
};
/// kParse when it is damaged, or a phase begins outside the image.
Result<CodeParts> ParseCodeSection(std::span<const std::byte> section);

}  // namespace tunec::bundle
