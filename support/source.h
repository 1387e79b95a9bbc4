// Diagnostics that show the offending line of a text input.
#pragma once

#include <string>
#include <string_view>

#include "support/error.h"

namespace tunec {

/// The line and column (from 1) of byte `offset` in `text`; an offset past the end is its end.
SourceLocation LocationOf(std::string_view text, std::string_view file_name, size_t offset);

/// `error.Format()`, then the line of `text` it points to and a caret below the column.
/// Without a location inside the text, only the first.
std::string FormatWithSource(const Error& error, std::string_view text);

}  // namespace tunec
