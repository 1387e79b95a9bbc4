// Diagnostics that show the affected line of a text input.
#pragma once

#include <string>
#include <string_view>

#include "support/error.h"

namespace tunec {

/// Returns the line and column (from 1) of byte `offset` in `text`. An offset past the end counts
/// as the end.
SourceLocation LocationOf(std::string_view text, std::string_view file_name, size_t offset);

/// Returns `error.Format()`, the line of `text` at the error's location, and a caret below a known
/// column. Returns only `error.Format()` if the line is unknown or not in `text`.
std::string FormatWithSource(const Error& error, std::string_view text);

}  // namespace tunec
