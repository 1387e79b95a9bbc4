// A function that makes text from a possibly damaged or hostile file safe for messages.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns `text` with `?` for each byte that is not valid UTF-8 and for each byte of a control
/// character, since these could control the terminal.
std::string Printable(std::string_view text);

}  // namespace tunec
