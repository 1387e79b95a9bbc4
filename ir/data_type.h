// The element types of tensors and scalars.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tunec {

/// The type of an element or a scalar. The numbers must never change, because bundles store
/// them. Text forms use the names.
enum class DataType : uint8_t {
  kF32 = 0,
  kF64 = 1,
  kF16 = 2,
  kBF16 = 3,
  kI8 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kU8 = 8,
  kU16 = 9,
  kU32 = 10,
  kU64 = 11,
  kBool = 12,  // one byte, 0 or 1
};

/// Returns the name of the type in texts, such as "f32", "i64" or "bool".
std::string_view Name(DataType type);
/// Returns the type with this name, if there is one.
std::optional<DataType> ParseDataType(std::string_view name);
/// Returns the number of bytes of one element.
size_t SizeOf(DataType type);
bool IsFloat(DataType type);
/// Returns whether the type is a signed or unsigned integer type; bool is not an integer type.
bool IsInteger(DataType type);
bool IsSigned(DataType type);

/// A set of types that operands may have or that a rule holds for.
enum class Domain : uint8_t {
  kAny,
  kNumber,  // not bool
  kFloat,
  kBits,  // integers and bool
  kInteger,
  kBool,
};
bool Contains(Domain domain, DataType type);
/// Returns a phrase for messages, such as "a float type".
std::string_view Name(Domain domain);

}  // namespace tunec
