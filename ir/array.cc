#include "ir/array.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "ir/allocate_array.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tunec {
namespace {

/// Null without memory. Large blocks take up memory where they are written only: the system has
/// cleared them already.
std::shared_ptr<std::byte> AllocateZeroed(size_t bytes) {
  // Above every address space; the sanitizers' malloc would stop the program.
  constexpr size_t kLimit = size_t{1} << 47;
  constexpr size_t kAlignment = 64;
  if (bytes > kLimit) return nullptr;
  void* memory = std::calloc(bytes + kAlignment, 1);
  if (memory == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (address + kAlignment - 1) / kAlignment * kAlignment;
  auto* start = static_cast<std::byte*>(memory) + (aligned - address);
  return {start, [memory](std::byte*) { std::free(memory); }};
}

}  // namespace

Array::Array(DataType type, std::vector<int64_t> shape)
    : type_(type), shape_(std::move(shape)), size_(ElementCount(shape_)) {
  TUNEC_CHECK(size_ >= 0, "an array of invalid shape");
  auto memory = AllocateZeroed(bytes());
  if (memory == nullptr) throw AllocationFailure(bytes());
  data_ = memory.get();
  owner_ = std::move(memory);
  owned_ = true;
}

Array::Array(DataType type, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
             std::span<const std::byte> bytes)
    : type_(type),
      shape_(std::move(shape)),
      size_(ElementCount(shape_)),
      owner_(std::move(owner)),
      data_(bytes.data()) {
  TUNEC_CHECK(size_ >= 0 && bytes.size() == this->bytes(), "an array of {} {} got {} bytes", size_,
              Name(type), bytes.size());
}

std::byte* Array::mutable_data() {
  TUNEC_CHECK(owned_, "writing to an array that shares its bytes");
  return const_cast<std::byte*>(data_);
}

double Array::GetDouble(int64_t i) const {
  const std::byte* address = data_ + static_cast<size_t>(i) * SizeOf(type_);
  return IsFloat(type_) ? LoadFloat(address, type_) : IntToDouble(LoadInt(address, type_), type_);
}

int64_t Array::GetInt(int64_t i) const {
  const std::byte* address = data_ + static_cast<size_t>(i) * SizeOf(type_);
  return IsFloat(type_) ? FloatToInt(LoadFloat(address, type_), DataType::kI64)
                        : LoadInt(address, type_);
}

void Array::SetDouble(int64_t i, double value) {
  std::byte* address = mutable_data() + static_cast<size_t>(i) * SizeOf(type_);
  if (IsFloat(type_)) return StoreFloat(address, type_, value);
  StoreInt(address, type_, FloatToInt(value, type_));
}

void Array::SetInt(int64_t i, int64_t value) {
  std::byte* address = mutable_data() + static_cast<size_t>(i) * SizeOf(type_);
  if (IsFloat(type_)) return StoreFloat(address, type_, static_cast<double>(value));
  StoreInt(address, type_, value);
}

Array Array::Reshaped(std::vector<int64_t> shape) const {
  TUNEC_CHECK(ElementCount(shape) == size_, "reshaping {} elements to {}", size_,
              ElementCount(shape));
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

int64_t ElementCount(std::span<const int64_t> shape) {
  // A zero anywhere makes the product zero, however large the others are.
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return -1;
    empty |= extent == 0;
  }
  if (empty) return 0;
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (extent > kMost / count) return -1;
    count *= extent;
  }
  return count;
}

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fU;
  const uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  // Zeros and subnormals: the mantissa counts units of 2^-24.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    return sign | 0x7e00U | static_cast<uint16_t>(magnitude >> 13 & 0x1ffU);  // NaN, made quiet
  }
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // 65520 and above round to infinity
  if (magnitude < 0x38800000U) {
    // Below 2^-14: adding 0.5 leaves the units of 2^-24, rounded, in the low mantissa bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000U);
  }
  const uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded >> 13) - (112U << 10));
}

float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1)) >> 16);
}

}  // namespace tunec
