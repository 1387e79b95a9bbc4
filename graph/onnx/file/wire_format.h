// Protobuf's wire format, as far as ONNX files use it. This code replaces libprotobuf, whose
// registry of message types is global to the process. So a program may link any version of
// protobuf, and may unload libtunec.so and load it again. Most of a model's bytes are weights;
// WireReader does not copy them. Only graph/onnx uses this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tunec::onnx_import {

using Bytes = std::span<const std::byte>;
/// The pieces of one message, in order. If a singular message field occurs several times, its
/// occurrences are pieces of one message.
using Pieces = std::vector<Bytes>;

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Returns the tag that identifies a field. A field with another wire type than declared is
/// unknown, like a field with an undeclared number.
constexpr uint32_t Tag(uint32_t number, WireType type) {
  return number << 3 | static_cast<uint32_t>(type);
}
constexpr uint32_t VarintTag(uint32_t number) { return Tag(number, WireType::kVarint); }
constexpr uint32_t FloatTag(uint32_t number) { return Tag(number, WireType::kFixed32); }
constexpr uint32_t DoubleTag(uint32_t number) { return Tag(number, WireType::kFixed64); }
/// Returns the tag of a field that holds a string, bytes, a message or packed numbers.
constexpr uint32_t BytesTag(uint32_t number) { return Tag(number, WireType::kBytes); }

/// One field of a message. It refers to the message's bytes.
struct WireField {
  uint32_t tag = 0;
  uint64_t number = 0;  // a varint, the bits of a float or double, or a length
  Bytes bytes;          // for a field with a length

  std::string Text() const;
  int64_t Signed() const { return static_cast<int64_t>(number); }
};

/// A reader of the fields of one message, in order.
class WireReader {
 public:
  explicit WireReader(Bytes message) : rest_(message) {}
  /// Returns the next field. Returns nothing at the end of the message, and for malformed bytes.
  /// Only malformed bytes make `Malformed()` true.
  std::optional<WireField> Next();
  /// Returns the next of packed numbers, which have no tags. The end and malformed bytes are
  /// reported as by `Next`.
  std::optional<uint64_t> Number(WireType type);
  bool Malformed() const { return malformed_; }

 private:
  std::optional<WireField> Read();
  std::optional<uint64_t> Value(WireType type);
  std::optional<uint64_t> Varint();
  std::optional<uint64_t> Fixed(size_t size);

  Bytes rest_;
  bool malformed_ = false;
};

/// Returns the numbers of one occurrence of a repeated field, packed or single. Returns nothing if
/// packed numbers are malformed.
std::optional<std::vector<uint64_t>> RepeatedNumbers(const WireField& field, WireType element);

/// A writer of one message. Varint, Float, Text, Raw and Message append a field with the given
/// number.
class WireWriter {
 public:
  void Varint(uint32_t number, int64_t value);
  void Float(uint32_t number, float value);
  void Text(uint32_t number, std::string_view text);
  void Raw(uint32_t number, Bytes bytes);
  void Message(uint32_t number, const WireWriter& message) { Text(number, message.bytes_); }
  size_t size() const { return bytes_.size(); }
  std::string Take() && { return std::move(bytes_); }

 private:
  void Append(uint64_t varint);
  std::string bytes_;
};

}  // namespace tunec::onnx_import
