// Copies a box of elements between dense arrays of different extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tunec {

/// A dense row-major array, and where a box of its elements begins.
struct BoxPlace {
  std::vector<int64_t> extents;
  std::vector<int64_t> begin;
};

/// A box that lies in two arrays: so many elements along each axis. All three are of one rank, and
/// the box is inside both arrays.
struct BoxCopy {
  BoxPlace source;
  BoxPlace target;
  std::vector<int64_t> box;
  size_t element_bytes = 0;
};

/// Rows of bytes in two memories: each begins a pitch after the one before it, in bytes.
struct CopiedRows {
  size_t row_bytes = 0;
  size_t rows = 0;
  size_t source_pitch = 0;  // at least row_bytes
  size_t target_pitch = 0;  // at least row_bytes
};

/// The bytes of a dense array of these extents.
int64_t BytesOf(const BoxPlace& place, size_t element_bytes);
/// Where the box begins in an array, in bytes.
int64_t OffsetOf(const BoxPlace& place, size_t element_bytes);

/// A box as few groups of rows, as many rows in each as lie evenly: `rows`, and where they begin in
/// both arrays, in bytes.
void ForEachRows(
    const BoxCopy& copy,
    const std::function<void(int64_t source, int64_t target, const CopiedRows& rows)>& each);

/// Requires: the arrays do not overlap.
void CopyBox(const void* from, void* to, const BoxCopy& copy);

}  // namespace tunec
