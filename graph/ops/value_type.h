// The type of a value: its element type and its dimensions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/data_type.h"
#include "ir/size/size_expr.h"

namespace tunec {

/// A dimension: an integer, or an expression of named sizes that are fixed later.
using Dim = SizeExpr;

/// Returns the dimension of this size, limited to 2^60. No valid size is that large.
Dim FixedDim(int64_t size);

struct ValueType {
  DataType type = DataType::kF32;
  std::vector<Dim> dims;
  bool IsFixed() const;
  /// Returns all dimensions as integers. Requires: every dimension is fixed.
  std::vector<int64_t> Shape() const;
  /// Returns the number of elements. Bytes() returns their size in bytes. Requires: every dimension
  /// is fixed.
  int64_t Elements() const;
  int64_t Bytes() const;
  bool operator==(const ValueType&) const = default;
};

/// Returns text such as "64x32", "batchx3", "(2*n + 1)x3" or "scalar".
std::string ShapeText(const std::vector<Dim>& dims);
/// Returns the dimension as a part of ShapeText: a sum or product is in parentheses.
std::string DimText(const Dim& dim);

}  // namespace tunec
