#include "ir/data_type.h"

#include <array>

#include "support/check.h"

namespace tunec {
namespace {

enum class Family : uint8_t { kFloat, kSigned, kUnsigned, kBool };

struct Row {
  std::string_view name;
  size_t bytes;
  Family family;
};

// The rows are in the order of the enumerators.
constexpr std::array<Row, 13> kTypes = {{
    {"f32", 4, Family::kFloat},
    {"f64", 8, Family::kFloat},
    {"f16", 2, Family::kFloat},
    {"bf16", 2, Family::kFloat},
    {"i8", 1, Family::kSigned},
    {"i16", 2, Family::kSigned},
    {"i32", 4, Family::kSigned},
    {"i64", 8, Family::kSigned},
    {"u8", 1, Family::kUnsigned},
    {"u16", 2, Family::kUnsigned},
    {"u32", 4, Family::kUnsigned},
    {"u64", 8, Family::kUnsigned},
    {"bool", 1, Family::kBool},
}};

const Row& RowOf(DataType type) {
  const auto index = static_cast<size_t>(type);
  TUNEC_CHECK(index < kTypes.size(), "data type number {}", index);
  return kTypes[index];
}

}  // namespace

std::string_view Name(DataType type) { return RowOf(type).name; }

std::optional<DataType> ParseDataType(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

size_t SizeOf(DataType type) { return RowOf(type).bytes; }

bool IsFloat(DataType type) { return RowOf(type).family == Family::kFloat; }

bool IsInteger(DataType type) {
  return RowOf(type).family == Family::kSigned || RowOf(type).family == Family::kUnsigned;
}

bool IsSigned(DataType type) {
  return RowOf(type).family == Family::kSigned || RowOf(type).family == Family::kFloat;
}

bool Contains(Domain domain, DataType type) {
  switch (domain) {
    case Domain::kAny:
      return true;
    case Domain::kNumber:
      return type != DataType::kBool;
    case Domain::kFloat:
      return IsFloat(type);
    case Domain::kBits:
      return !IsFloat(type);
    case Domain::kInteger:
      return IsInteger(type);
    case Domain::kBool:
      return type == DataType::kBool;
  }
  TUNEC_UNREACHABLE("domain {}", static_cast<int>(domain));
}

std::string_view Name(Domain domain) {
  switch (domain) {
    case Domain::kAny:
      return "any type";
    case Domain::kNumber:
      return "a number type";
    case Domain::kFloat:
      return "a float type";
    case Domain::kBits:
      return "an integer type or bool";
    case Domain::kInteger:
      return "an integer type";
    case Domain::kBool:
      return "bool";
  }
  TUNEC_UNREACHABLE("domain {}", static_cast<int>(domain));
}

}  // namespace tunec
