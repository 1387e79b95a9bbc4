// A function that makes text of models, databases and errors safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns `text` with `?` for each byte that is not UTF-8, and for each ASCII control character
/// except line ends and tabs. Names in untrusted files may contain escape sequences.
std::string VisibleText(std::string_view text);

}  // namespace tunec
