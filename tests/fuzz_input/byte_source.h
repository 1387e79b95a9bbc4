// A class that reads numbers and texts from a fuzzer's input. After the last byte it reads zeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tunec::fuzz {

class ByteSource {
 public:
  ByteSource(const uint8_t* data, size_t size)
      : bytes_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return bytes_.empty(); }
  uint8_t Byte() { return static_cast<uint8_t>(Take(1)[0]); }
  /// Returns a number below `bound`. Requires bound > 0.
  size_t Below(size_t bound) { return Number<uint32_t>() % bound; }

  template <class T>
  T Number() {
    const std::string bytes = Take(sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  /// Reads a byte, and returns a string of as many bytes, or of the fewer bytes that remain.
  std::string Text() {
    const size_t length = std::min<size_t>(Byte(), bytes_.size());
    return Take(length);
  }

 private:
  std::string Take(size_t count) {
    std::string taken(bytes_.substr(0, count));
    bytes_.remove_prefix(taken.size());
    taken.resize(count, '\0');
    return taken;
  }

  std::string_view bytes_;
};

}  // namespace tunec::fuzz
