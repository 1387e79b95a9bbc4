#include "graph/onnx/file/wire_format.h"

#include <bit>

namespace tunec::onnx_import {
namespace {

constexpr uint64_t kMostFieldNumber = (uint64_t{1} << 29) - 1;
constexpr int kVarintBits = 70;  // ten bytes of seven bits; bits above 64 are dropped

}  // namespace

std::string WireField::Text() const {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<WireField> WireReader::Next() {
  if (malformed_ || rest_.empty()) return std::nullopt;
  std::optional<WireField> field = Read();
  malformed_ = !field;
  return field;
}

std::optional<uint64_t> WireReader::Number(WireType type) {
  if (malformed_ || rest_.empty()) return std::nullopt;
  const std::optional<uint64_t> number = Value(type);
  malformed_ = !number;
  return number;
}

std::optional<WireField> WireReader::Read() {
  const auto tag = Varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > kMostFieldNumber) return std::nullopt;
  const auto type = static_cast<WireType>(*tag & 7);
  const auto value = type == WireType::kBytes ? Varint() : Value(type);
  if (!value) return std::nullopt;
  WireField field{.tag = static_cast<uint32_t>(*tag), .number = *value};
  if (type != WireType::kBytes) return field;
  if (*value > rest_.size()) return std::nullopt;
  field.bytes = rest_.first(*value);
  rest_ = rest_.subspan(*value);
  return field;
}

std::optional<uint64_t> WireReader::Value(WireType type) {
  switch (type) {
    case WireType::kVarint:
      return Varint();
    case WireType::kFixed64:
      return Fixed(8);
    case WireType::kFixed32:
      return Fixed(4);
    default:
      return std::nullopt;  // groups do not occur in ONNX
  }
}

std::optional<uint64_t> WireReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < kVarintBits && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::optional<uint64_t> WireReader::Fixed(size_t size) {
  if (rest_.size() < size) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint64_t>(rest_[i]);
  rest_ = rest_.subspan(size);
  return value;
}

std::optional<std::vector<uint64_t>> RepeatedNumbers(const WireField& field, WireType element) {
  if ((field.tag & 7) != static_cast<uint32_t>(WireType::kBytes)) return {{field.number}};
  std::vector<uint64_t> numbers;
  if (element == WireType::kFixed32) numbers.reserve(field.bytes.size() / 4);
  if (element == WireType::kFixed64) numbers.reserve(field.bytes.size() / 8);
  WireReader reader(field.bytes);
  while (const auto number = reader.Number(element)) numbers.push_back(*number);
  if (reader.Malformed()) return std::nullopt;
  return numbers;
}

void WireWriter::Append(uint64_t varint) {
  for (; varint >= 0x80; varint >>= 7) bytes_ += static_cast<char>(varint | 0x80);
  bytes_ += static_cast<char>(varint);
}

void WireWriter::Varint(uint32_t number, int64_t value) {
  Append(VarintTag(number));
  Append(static_cast<uint64_t>(value));
}

void WireWriter::Float(uint32_t number, float value) {
  Append(FloatTag(number));
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift);
}

void WireWriter::Text(uint32_t number, std::string_view text) {
  Append(BytesTag(number));
  Append(text.size());
  bytes_ += text;
}

void WireWriter::Raw(uint32_t number, Bytes bytes) {
  Text(number, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace tunec::onnx_import
