// Copies of a slice between dense arrays, which may have different extents.
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

/// A copy of a slice from a source array to a target array. `slice` has the number of elements
/// along each axis. The slice and the arrays have the same rank, and the slice is inside both
/// arrays.
struct SliceCopy {
  SlicePosition source;
  SlicePosition target;
  std::vector<int64_t> slice;
  size_t element_bytes = 0;
};

/// Rows of bytes in a source and a target. A pitch is the distance in bytes from the first byte of
/// a row to the first byte of the next row.
struct CopiedRows {
  size_t row_bytes = 0;
  size_t rows = 0;
  size_t source_pitch = 0;  // at least row_bytes
  size_t target_pitch = 0;  // at least row_bytes
};

/// Returns the size of the whole array, in bytes.
int64_t BytesOf(const SlicePosition& position, size_t element_bytes);
/// Returns the offset of the slice's first element in the array, in bytes.
int64_t OffsetOf(const SlicePosition& position, size_t element_bytes);

/// Splits a slice into groups of evenly spaced rows; axes are merged so that there are few groups.
/// Calls `each` for each group, with the rows and the offsets of the first row in both arrays, in
/// bytes. Makes no call for an empty slice.
void ForEachRows(
    const SliceCopy& copy,
    const std::function<void(int64_t source, int64_t target, const CopiedRows& rows)>& each);

/// Copies a slice. Requires: the arrays do not overlap.
void CopySlice(const void* from, void* to, const SliceCopy& copy);

}  // namespace tunec
