// Functions that replace parts of program texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/check.h"

namespace tunec::test {

/// Returns the text with every `what` replaced by `by`.
inline std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// Returns the text with the first `what` replaced by `by`. Stops the test program if there is
/// none.
inline std::string ReplacedOnce(std::string text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  TUNEC_CHECK(at != std::string::npos, "no {} in {}", what, text);
  return text.replace(at, what.size(), by);
}

/// Returns the text with names such as "$M" replaced by their numbers.
inline std::string Numbered(std::string text,
                            const std::vector<std::pair<std::string_view, int64_t>>& numbers) {
  for (const auto& [name, number] : numbers)
    text = Replaced(std::move(text), name, std::to_string(number));
  return text;
}

}  // namespace tunec::test
