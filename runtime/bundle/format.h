// The format of a bundle file: sections, each with its hash. docs/reference/bundles.md describes
// the bytes for users.
//
//   header      64 bytes
//   table       one SectionEntry for each section
//   sections    in the order of the table, each at a multiple of its alignment, zeros between them
//
// All numbers are little-endian, because every machine that can run the code is little-endian.
#pragma once

#include <array>
#include <cstdint>

namespace tunec::bundle {

inline constexpr std::array<char, 8> kMagic = {'t', 'u', 'n', 'e', 'c', 'b', 'n', '\x1a'};
inline constexpr uint32_t kVersion = 4;

/// Kinds of sections. Files contain these numbers, so the numbers must never change.
enum class SectionKind : uint32_t {
  kVariant = 1,     // the target of one variant's code (variant_head.h)
  kPlan = 2,        // tensors, steps and memory (stored_plan.h)
  kCode = 3,        // requirements of the kernels (code_table.h), then the machine code
  kReport = 4,      // the report of the compilation, JSON
  kWeights = 5,     // bytes of constants of all variants; one section, of variant 0
  kDeviceCode = 6,  // images and kernels of a variant for a device (device_code.h)
  kSizes = 7,       // instead of kPlan: plans for several sizes (stored_sizes.h)
};

struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t sections = 0;
  uint64_t file_bytes = 0;
  uint64_t table_hash = 0;  // hash of the header, with 0 in this field, and of the table after it
  std::array<uint64_t, 4> reserved = {};
};
static_assert(sizeof(Header) == 64);

struct SectionEntry {
  SectionKind kind = SectionKind::kVariant;
  uint32_t variant = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t hash = 0;  // hash of the section's bytes (HashOf)
  bool operator==(const SectionEntry&) const = default;
};
static_assert(sizeof(SectionEntry) == 32);

/// The maximum number of sections. No bundle needs more, and a reader checks this many sections
/// quickly.
inline constexpr uint32_t kMostSections = 4096;
inline constexpr uint64_t kPage = 4096;
/// Least alignment of constants in the weights, in bytes.
inline constexpr uint64_t kConstantAlignment = 64;

/// Returns the alignment of a section in the file, in bytes. Sections whose bytes are used in place
/// begin at a page.
constexpr uint64_t AlignmentOf(SectionKind kind) {
  return kind == SectionKind::kCode || kind == SectionKind::kWeights ? kPage : 8;
}

constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace tunec::bundle
