#include "db/tables/text.h"

#include <cstddef>
#include <cstdint>

namespace tunec {
namespace {

/// Returns the length of the UTF-8 sequence at `at`; 0 if invalid (Unicode 15, table 3-7) or NUL.
size_t SequenceLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const uint8_t lead = byte(0);
  if (lead == 0) return 0;
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool beyond = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

bool IsStorableText(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = SequenceLength(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string MakeStorable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = SequenceLength(text, at);
    if (length == 0) {
      result += '?';
      ++at;
    } else {
      result += text.substr(at, length);
      at += length;
    }
  }
  return result;
}

}  // namespace tunec
