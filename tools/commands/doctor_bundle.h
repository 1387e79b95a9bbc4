// What a bundle holds, and whether it runs here.
#pragma once

#include <string>

#include "support/error.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Prints the sections, the variants and which of them runs here. Errors: those of reading it;
/// kDevice where none runs here, after all was printed.
Result<int> DiagnoseBundle(const std::string& path, OutputForm form);

}  // namespace tunec
