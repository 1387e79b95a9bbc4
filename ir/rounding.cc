#include "ir/rounding.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ir/array.h"
#include "support/check.h"

namespace tunec {
namespace {

// Rounds towards zero and sets the last bit if the result is inexact. A later rounding to at most
// 22 bits then gives the same result as a direct rounding of the double.
float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

template <class T>
T LoadAs(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
void StoreAs(std::byte* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

template <class T>
int64_t Saturate(double value) {
  // The largest value of a 64-bit type is not a double, but its successor is.
  constexpr double kEnd = 2.0 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
  if (std::isnan(value)) return 0;
  if (value >= kEnd) return static_cast<int64_t>(std::numeric_limits<T>::max());
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return static_cast<int64_t>(std::numeric_limits<T>::min());
  }
  return static_cast<int64_t>(static_cast<T>(value));
}

/// Converts to a signed integer of 8 * sizeof(T) bits, rounding towards zero. NaN or a value that
/// does not fit gives the smallest number of this type.
template <class T>
int64_t ConvertSigned(double value) {
  constexpr double kEnd = -static_cast<double>(std::numeric_limits<T>::min());
  if (!(std::abs(value) < kEnd)) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

template <class T>
int64_t ConvertUnsigned(double value) {
  using Signed = std::make_signed_t<T>;
  constexpr double kHalf = -static_cast<double>(std::numeric_limits<Signed>::min());
  if (!(value >= kHalf)) return static_cast<int64_t>(static_cast<T>(ConvertSigned<Signed>(value)));
  const auto above = static_cast<T>(ConvertSigned<Signed>(value - kHalf));
  return static_cast<int64_t>(static_cast<T>(above + (T{1} << (8 * sizeof(T) - 1))));
}

template <class T>
int64_t Wrap(int64_t value) {
  return static_cast<int64_t>(static_cast<T>(value));
}

}  // namespace

double RoundTo(double value, DataType float_type) {
  switch (float_type) {
    case DataType::kF64:
      return value;
    case DataType::kF32:
      return static_cast<float>(value);
    case DataType::kF16:
      return HalfToFloat(FloatToHalf(RoundToOdd(value)));
    case DataType::kBF16:
      return BFloat16ToFloat(FloatToBFloat16(RoundToOdd(value)));
    default:
      TUNEC_UNREACHABLE("{} is not a float type", Name(float_type));
  }
}

double RoundingOf(DataType type) {
  switch (type) {
    case DataType::kF64:
      return 0x1p-53;
    case DataType::kF16:
      return 0x1p-11;
    case DataType::kBF16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

double LargestFinite(DataType float_type) {
  switch (float_type) {
    case DataType::kF64:
      return std::numeric_limits<double>::max();
    case DataType::kF32:
      return std::numeric_limits<float>::max();
    case DataType::kF16:
      return 65504;
    case DataType::kBF16:
      return 0x1.FEp127;
    default:
      TUNEC_UNREACHABLE("{} is not a float type", Name(float_type));
  }
}

int64_t WrapTo(int64_t value, DataType type) {
  switch (type) {
    case DataType::kI8:
      return Wrap<int8_t>(value);
    case DataType::kI16:
      return Wrap<int16_t>(value);
    case DataType::kI32:
      return Wrap<int32_t>(value);
    case DataType::kU8:
      return Wrap<uint8_t>(value);
    case DataType::kU16:
      return Wrap<uint16_t>(value);
    case DataType::kU32:
      return Wrap<uint32_t>(value);
    case DataType::kI64:
    case DataType::kU64:
      return value;
    case DataType::kBool:
      return value != 0;
    default:
      TUNEC_UNREACHABLE("{} is not an integer type", Name(type));
  }
}

int64_t SaturateToInt(double value, DataType type) {
  switch (type) {
    case DataType::kI8:
      return Saturate<int8_t>(value);
    case DataType::kI16:
      return Saturate<int16_t>(value);
    case DataType::kI32:
      return Saturate<int32_t>(value);
    case DataType::kI64:
      return Saturate<int64_t>(value);
    case DataType::kU8:
      return Saturate<uint8_t>(value);
    case DataType::kU16:
      return Saturate<uint16_t>(value);
    case DataType::kU32:
      return Saturate<uint32_t>(value);
    case DataType::kU64:
      return Saturate<uint64_t>(value);
    case DataType::kBool:
      return value != 0;
    default:
      TUNEC_UNREACHABLE("{} is not an integer type", Name(type));
  }
}

int64_t CastToInt(double value, DataType type) {
  switch (type) {
    case DataType::kI64:
      return ConvertSigned<int64_t>(value);
    case DataType::kU32:
      return ConvertUnsigned<uint32_t>(value);
    case DataType::kU64:
      return ConvertUnsigned<uint64_t>(value);
    case DataType::kBool:
      return value != 0;
    default:
      return WrapTo(ConvertSigned<int32_t>(value), type);
  }
}

double IntToDouble(int64_t value, DataType type) {
  if (type == DataType::kU64) return static_cast<double>(static_cast<uint64_t>(value));
  return static_cast<double>(value);
}

int64_t SmallestInt(DataType type) {
  if (!IsInteger(type) || !IsSigned(type)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - 8 * SizeOf(type));
}

int64_t LargestInt(DataType type) {
  if (type == DataType::kBool) return 1;
  if (type == DataType::kU64) return -1;
  const size_t bits = 8 * SizeOf(type) - (IsSigned(type) ? 1 : 0);
  return static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

double LoadFloat(const std::byte* address, DataType type) {
  switch (type) {
    case DataType::kF32:
      return LoadAs<float>(address);
    case DataType::kF64:
      return LoadAs<double>(address);
    case DataType::kF16:
      return HalfToFloat(LoadAs<uint16_t>(address));
    case DataType::kBF16:
      return BFloat16ToFloat(LoadAs<uint16_t>(address));
    default:
      TUNEC_UNREACHABLE("{} is not a float type", Name(type));
  }
}

int64_t LoadInt(const std::byte* address, DataType type) {
  switch (type) {
    case DataType::kI8:
      return LoadAs<int8_t>(address);
    case DataType::kI16:
      return LoadAs<int16_t>(address);
    case DataType::kI32:
      return LoadAs<int32_t>(address);
    case DataType::kU8:
      return LoadAs<uint8_t>(address);
    case DataType::kU16:
      return LoadAs<uint16_t>(address);
    case DataType::kU32:
      return LoadAs<uint32_t>(address);
    case DataType::kI64:
    case DataType::kU64:
      return LoadAs<int64_t>(address);
    case DataType::kBool:
      return LoadAs<uint8_t>(address) != 0;
    default:
      TUNEC_UNREACHABLE("{} is not an integer type", Name(type));
  }
}

void StoreFloat(std::byte* address, DataType type, double value) {
  switch (type) {
    case DataType::kF32:
      return StoreAs(address, static_cast<float>(value));
    case DataType::kF64:
      return StoreAs(address, value);
    case DataType::kF16:
      return StoreAs(address, FloatToHalf(RoundToOdd(value)));
    case DataType::kBF16:
      return StoreAs(address, FloatToBFloat16(RoundToOdd(value)));
    default:
      TUNEC_UNREACHABLE("{} is not a float type", Name(type));
  }
}

void StoreInt(std::byte* address, DataType type, int64_t value) {
  switch (SizeOf(type)) {
    case 1:
      return StoreAs(address, static_cast<uint8_t>(WrapTo(value, type)));
    case 2:
      return StoreAs(address, static_cast<uint16_t>(value));
    case 4:
      return StoreAs(address, static_cast<uint32_t>(value));
    default:
      return StoreAs(address, value);
  }
}

}  // namespace tunec
