// Copies a box of elements between dense arrays of different extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tunec {

/// A dense row-major array, and where a box of its elements begins.
struct BoxPlace {
  std::vector<int64_t> extents;
  std::vector<int64_t> begin;
};

/// Copies `box` elements along each axis. Requires: all three of one rank, the box inside both
/// arrays, which do not overlap.
void CopyBox(const void* from, const BoxPlace& source, void* to, const BoxPlace& target,
             std::span<const int64_t> box, size_t element_bytes);

}  // namespace tunec
