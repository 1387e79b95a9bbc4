// A dense row-major array with shared ownership of its bytes. Arrays hold constants, the
// interpreters' values, and the data of input and output files. Copies share the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/data_type.h"

namespace tunec {

class Array {
 public:
  Array() = default;
  /// Allocates a zero-filled, 64-byte aligned array. Throws AllocationFailure if memory runs out.
  /// Aborts if ElementCount(shape) < 0, so callers must check shapes that come from files first.
  Array(DataType type, std::vector<int64_t> shape);
  /// Makes an array of bytes that `owner`, such as a mapped file, keeps alive. `bytes` must have
  /// the size of the elements. The bytes must be aligned to the element size; an alignment to 64
  /// bytes is not required.
  Array(DataType type, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
        std::span<const std::byte> bytes);

  DataType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t size() const { return size_; }
  size_t bytes() const { return static_cast<size_t>(size_) * SizeOf(type_); }
  const std::byte* data() const { return data_; }
  /// Returns the bytes for writing. Aborts unless the array's constructor allocated them. Copies of
  /// the array share the bytes, so the array must not be written once copies are read.
  std::byte* mutable_data();
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(size_)};
  }
  template <class T>
  std::span<T> MutableAs() {
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(size_)};
  }

  /// Return or set element i in row-major order, converted to or from double or int64. These
  /// functions are slow, because they test the type for each element.
  double GetDouble(int64_t i) const;
  int64_t GetInt(int64_t i) const;
  void SetDouble(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);
  /// Returns an array of the same bytes with another shape of equal element count.
  Array Reshaped(std::vector<int64_t> shape) const;

 private:
  DataType type_ = DataType::kF32;
  std::vector<int64_t> shape_;
  int64_t size_ = 0;
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  bool owned_ = false;
};

/// Returns whether both arrays have the same type, shape and bytes.
bool HaveSameBytes(const Array& a, const Array& b);

/// Returns the product of the dimensions, or -1 if a dimension is negative or the product exceeds
/// 2^48.
int64_t ElementCount(std::span<const int64_t> shape);

/// Convert 16-bit floats; conversions to 16 bits round to nearest even.
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);
float BFloat16ToFloat(uint16_t bits);
uint16_t FloatToBFloat16(float value);

}  // namespace tunec
