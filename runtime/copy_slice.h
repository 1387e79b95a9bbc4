// Copies a slice between dense arrays of different extents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tunec {

/// A dense row-major array, and the first element of a slice in it.
struct SlicePosition {
  std::vector<int64_t> extents;
  std::vector<int64_t> begin;
};

/// A slice of two arrays. `slice` has the number of elements along each axis. The slice and the
/// arrays have the same rank, and the slice is inside both arrays.
struct SliceCopy {
  SlicePosition source;
  SlicePosition target;
  std::vector<int64_t> slice;
  size_t element_bytes = 0;
};

/// Rows of bytes in two memories. The pitch is the distance in bytes from the first byte of a row
/// to the first byte of the next row.
struct CopiedRows {
  size_t row_bytes = 0;
  size_t rows = 0;
  size_t source_pitch = 0;  // at least row_bytes
  size_t target_pitch = 0;  // at least row_bytes
};

/// Returns the bytes of a dense array of these extents.
int64_t BytesOf(const SlicePosition& position, size_t element_bytes);
/// Returns the offset of the slice in an array, in bytes.
int64_t OffsetOf(const SlicePosition& position, size_t element_bytes);

/// Splits a slice into as few groups of evenly spaced rows as possible. Calls `each` with the rows
/// and with their offsets in both arrays, in bytes.
void ForEachRows(
    const SliceCopy& copy,
    const std::function<void(int64_t source, int64_t target, const CopiedRows& rows)>& each);

/// Copies a slice. Requires: the arrays do not overlap.
void CopySlice(const void* from, void* to, const SliceCopy& copy);

}  // namespace tunec
