// The shape of a value while a model is imported. Only graph/onnx uses this file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tunec::onnx_import {

/// The extents of a value. There is no operator[], because the file decides the number of extents,
/// and an index could be out of range. NodeContext and Formula return single extents after a check
/// (Extents, Extent). All extents are available as a list.
class OperandShape {
 public:
  OperandShape() = default;
  OperandShape(std::vector<int64_t> extents) : extents_(std::move(extents)) {}  // NOLINT: a list

  const std::vector<int64_t>& list() const { return extents_; }
  operator const std::vector<int64_t>&() const { return extents_; }  // NOLINT: a list
  size_t size() const { return extents_.size(); }
  bool empty() const { return extents_.empty(); }

  static constexpr size_t kEnd = std::numeric_limits<size_t>::max();
  /// Returns the extents of the existing axes in [begin, end).
  std::vector<int64_t> Part(size_t begin, size_t end = kEnd) const {
    const size_t last = std::min(end, extents_.size());
    const size_t first = std::min(begin, last);
    return {extents_.begin() + static_cast<std::ptrdiff_t>(first),
            extents_.begin() + static_cast<std::ptrdiff_t>(last)};
  }

  bool operator==(const OperandShape&) const = default;

 private:
  std::vector<int64_t> extents_;
};

}  // namespace tunec::onnx_import
