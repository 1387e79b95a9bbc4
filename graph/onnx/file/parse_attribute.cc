#include "graph/onnx/file/parse_attribute.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>

namespace tunec::onnx_import {
namespace {

double AsFloat(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

/// Appends the field's numbers. Returns false if the field's content is malformed.
bool TakeNumbers(RawAttribute& attribute, const WireField& field) {
  const auto numbers = RepeatedNumbers(field, WireType::kFixed32);
  if (!numbers) return false;
  for (const uint64_t bits : *numbers) attribute.numbers.push_back(AsFloat(bits));
  return true;
}

bool TakeIntegers(RawAttribute& attribute, const WireField& field) {
  const auto numbers = RepeatedNumbers(field, WireType::kVarint);
  if (!numbers) return false;
  attribute.integers.insert(attribute.integers.end(), numbers->begin(), numbers->end());
  return true;
}

void TakeSingle(RawAttribute& attribute, const WireField& field) {
  switch (field.tag) {
    case BytesTag(1):
      attribute.name = field.Text();
      break;
    case FloatTag(2):
      attribute.number = AsFloat(field.number);
      break;
    case VarintTag(3):
      attribute.integer = field.Signed();
      break;
    case BytesTag(4):
      attribute.text = field.Text();
      break;
    case BytesTag(5):
      attribute.tensor.push_back(field.bytes);
      break;
    case BytesTag(6):
      attribute.graph.push_back(field.bytes);
      break;
    case BytesTag(9):
      attribute.texts.push_back(field.Text());
      break;
    case VarintTag(20):
      attribute.kind = static_cast<AttributeKind>(field.number);
      break;
    case BytesTag(21):
      attribute.reference = field.Text();
      break;
    default:
      break;
  }
}

bool TakeField(RawAttribute& attribute, const WireField& field) {
  switch (field.tag) {
    case FloatTag(7):
    case BytesTag(7):
      return TakeNumbers(attribute, field);
    case VarintTag(8):
    case BytesTag(8):
      return TakeIntegers(attribute, field);
    default:
      TakeSingle(attribute, field);
      return true;
  }
}

}  // namespace

std::optional<RawAttribute> ReadAttribute(Bytes bytes) {
  RawAttribute attribute;
  WireReader fields(bytes);
  while (const auto field = fields.Next())
    if (!TakeField(attribute, *field)) return std::nullopt;
  if (fields.Malformed()) return std::nullopt;
  return attribute;
}

std::string Name(AttributeKind kind) {
  static constexpr std::array<std::string_view, 15> kNames = {
      "UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
      "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
      "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  const auto number = static_cast<uint64_t>(kind);
  return number < kNames.size() ? std::string(kNames[number]) : fmt::format("{}", number);
}

}  // namespace tunec::onnx_import
