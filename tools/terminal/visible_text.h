// A function that replaces control characters in text for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns `text` with `?` for each byte that is not UTF-8, and for each byte of a control
/// character except newlines and tabs. Names in untrusted files may contain escape sequences.
std::string VisibleText(std::string_view text);

}  // namespace tunec
