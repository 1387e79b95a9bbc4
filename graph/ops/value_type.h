// The type of a value: its element type and its dimensions.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/data_type.h"

namespace tunec {

/// A dimension: an integer, or the name of a parameter whose size is fixed later.
class Dim {
 public:
  Dim(int64_t size) : value_(size) {}  // NOLINT: literals are dimensions
  explicit Dim(std::string parameter) : value_(std::move(parameter)) {}
  bool IsFixed() const { return std::holds_alternative<int64_t>(value_); }
  int64_t size() const { return std::get<int64_t>(value_); }
  const std::string& parameter() const { return std::get<std::string>(value_); }
  bool operator==(const Dim&) const = default;

 private:
  std::variant<int64_t, std::string> value_;
};

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

/// Returns text such as "64x32", "batchx3" or "scalar".
std::string ShapeText(const std::vector<Dim>& dims);
std::string DimText(const Dim& dim);

}  // namespace tunec
