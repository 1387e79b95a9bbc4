// Text of models, databases and errors, as a terminal may print it.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns `text` with `?` for each control character but line ends and tabs, and for each byte
/// that is not UTF-8. A name of a file from elsewhere could otherwise command the terminal.
std::string VisibleText(std::string_view text);

}  // namespace tunec
