// Makes text of models, databases and errors safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns `text` with `?` for each byte that is not UTF-8, and for each ASCII control character
/// except line ends and tabs. Otherwise a name in a file from elsewhere could command the terminal.
std::string VisibleText(std::string_view text);

}  // namespace tunec
