// Text of a file that may be damaged or hostile, made fit for messages.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// `text` with `?` for each byte that is no UTF-8 and for each control character: none of them may
/// reach a terminal.
std::string Printable(std::string_view text);

}  // namespace tunec
