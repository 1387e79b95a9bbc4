// The shape of a value while a model is imported. Only graph/onnx uses this file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "graph/ops/attributes.h"
#include "graph/ops/value_type.h"
#include "ir/size/prove_sizes.h"

namespace tunec::onnx_import {

/// The extents of a value, which may contain named sizes. There is no operator[], because the file
/// decides the number of extents, and an index could be out of range. NodeContext and Formula
/// return single extents after a check (Extents, Extent, Dims, DimOf). All extents are available as
/// a list.
class OperandShape {
 public:
  OperandShape() = default;
  OperandShape(std::vector<Dim> dims) : dims_(std::move(dims)) {}  // NOLINT: a list
  OperandShape(std::initializer_list<Dim> dims) : dims_(dims) {}   // NOLINT: a list
  OperandShape(const std::vector<int64_t>& extents)                // NOLINT: a list
      : dims_(extents.begin(), extents.end()) {}

  const std::vector<Dim>& list() const { return dims_; }
  operator const std::vector<Dim>&() const { return dims_; }  // NOLINT: a list
  size_t size() const { return dims_.size(); }
  bool empty() const { return dims_.empty(); }
  /// Returns whether the shape has no named sizes.
  bool IsFixed() const { return std::ranges::all_of(dims_, &Dim::IsConstant); }
  /// Returns the extents as integers. Requires: IsFixed().
  std::vector<int64_t> Fixed() const {
    std::vector<int64_t> extents;
    for (const Dim& dim : dims_) extents.push_back(dim.Value());
    return extents;
  }

  static constexpr size_t kEnd = std::numeric_limits<size_t>::max();
  /// Returns the extents of the existing axes in [begin, end).
  std::vector<Dim> Part(size_t begin, size_t end = kEnd) const {
    const size_t last = std::min(end, dims_.size());
    const size_t first = std::min(begin, last);
    return {dims_.begin() + static_cast<std::ptrdiff_t>(first),
            dims_.begin() + static_cast<std::ptrdiff_t>(last)};
  }
  /// Returns the product of the extents of the existing axes in [begin, end). The product is
  /// unknown beyond the limits of SizeExpr.
  Dim Elements(size_t begin = 0, size_t end = kEnd) const {
    Dim product = 1;
    for (const Dim& dim : Part(begin, end)) product = product * dim;
    return product;
  }

  bool operator==(const OperandShape&) const = default;

 private:
  std::vector<Dim> dims_;
};

/// Returns the greater size. Leaves out a size that is proved to be the smaller one.
inline Dim MaxOf(const Dim& a, const Dim& b) {
  if (ProveAtMost(a, b, {})) return b;
  return ProveAtMost(b, a, {}) ? a : Dim::Max(a, b);
}
inline Dim MinOf(const Dim& a, const Dim& b) { return -MaxOf(-a, -b); }

/// Returns a size as an attribute of integers.
inline Attribute SizeAttribute(const Dim& size) { return Substitute(Attribute(size), {}); }

/// Returns a list of sizes as an attribute: integers if no size is named.
inline Attribute SizesAttribute(std::vector<Dim> sizes) {
  return Substitute(Attribute(std::move(sizes)), {});
}

/// Returns a size as an attribute of numbers: a float if it is not named.
inline Attribute NumberAttribute(const Dim& size) {
  if (size.IsConstant()) return static_cast<double>(size.Value());
  return size;
}

}  // namespace tunec::onnx_import
