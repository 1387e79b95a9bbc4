// A writer and a reader of numbers and texts as consecutive bytes. The reader reads nothing beyond
// the end of untrusted input, and rejects a count that the remaining bytes cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tunec::bundle {

class ByteWriter {
 public:
  void Byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void Number(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void Count(size_t value) { Number(static_cast<int64_t>(value)); }
  void Text(std::string_view text) {
    Count(text.size());
    bytes_ += text;
  }
  void Real(double value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A reader of bytes. After a missing or wrong item, ok() is false and all further items are 0 or
/// empty.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  /// Returns true if everything was read and nothing was wrong.
  bool done() const { return ok_ && rest_.empty(); }
  void Reject() { ok_ = false; }

  uint8_t Byte() {
    const auto taken = Take(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  /// Reads an enumerator. Rejects a number above that of `last`.
  template <class Enum>
  Enum Choice(Enum last) {
    const uint8_t number = Byte();
    ok_ = ok_ && number <= static_cast<uint8_t>(last);
    return ok_ ? static_cast<Enum>(number) : Enum();
  }
  int64_t Number() {
    int64_t value = 0;
    const auto taken = Take(sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  /// Reads a number. Rejects a negative one.
  int64_t Size() {
    const int64_t value = Number();
    ok_ = ok_ && value >= 0;
    return ok_ ? value : 0;
  }
  double Real() {
    double value = 0;
    const auto taken = Take(sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  /// Reads a text with arbitrary bytes, without a copy.
  std::span<const std::byte> Block() { return Take(Count(1)); }
  /// Reads a count of elements. Rejects it unless `least_bytes` bytes per element are left.
  size_t Count(size_t least_bytes) {
    const auto count = static_cast<uint64_t>(Size());
    ok_ = ok_ && count <= rest_.size() / least_bytes;
    return ok_ ? count : 0;
  }
  /// Reads a text. Rejects a text with a zero byte, because C functions may receive the text.
  std::string Text() {
    std::string text = Bytes();
    ok_ = ok_ && !text.contains('\0');
    return ok_ ? text : std::string();
  }
  /// Reads a text with arbitrary bytes.
  std::string Bytes() {
    const auto taken = Take(Count(1));
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  std::span<const std::byte> Take(size_t bytes) {
    ok_ = ok_ && bytes <= rest_.size();
    if (!ok_) return {};
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace tunec::bundle
