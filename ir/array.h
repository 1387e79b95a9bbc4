// A dense row-major array with shared ownership of its bytes: the data of constants, of
// interpreters and of input and output files. Copies share the bytes.
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
  /// Zero-filled, 64-byte aligned. The element count must fit in memory: the caller checks sizes
  /// that come from files first (ElementCount).
  Array(DataType type, std::vector<int64_t> shape);
  /// Shares bytes that `owner` keeps alive (a mapped file). `bytes` holds exactly the elements;
  /// it may be unaligned to 64, but is aligned to the element size.
  Array(DataType type, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
        std::span<const std::byte> bytes);

  DataType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t size() const { return size_; }
  size_t bytes() const { return static_cast<size_t>(size_) * SizeOf(type_); }
  const std::byte* data() const { return data_; }
  /// Only for arrays that this object allocated and nobody else reads yet.
  std::byte* mutable_data();
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(size_)};
  }
  template <class T>
  std::span<T> MutableAs() {
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(size_)};
  }

  /// Element i in row-major order converted to double or int64 (slow, for interpreters).
  double GetDouble(int64_t i) const;
  int64_t GetInt(int64_t i) const;
  void SetDouble(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);
  /// The same bytes with another shape of equal element count.
  Array Reshaped(std::vector<int64_t> shape) const;

 private:
  DataType type_ = DataType::kF32;
  std::vector<int64_t> shape_;
  int64_t size_ = 0;
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  bool owned_ = false;
};

/// Of one type and shape, with the same bytes.
bool HaveSameBytes(const Array& a, const Array& b);

/// The product of the dimensions, or -1 when one is negative or the product exceeds 2^48.
int64_t ElementCount(std::span<const int64_t> shape);

/// Conversions of 16-bit floats, round to nearest even.
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);
float BFloat16ToFloat(uint16_t bits);
uint16_t FloatToBFloat16(float value);

}  // namespace tunec
