// Reports the content of a bundle, and says if the bundle runs on this machine.
#pragma once

#include <string>

#include "support/error.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Prints the sections and variants, and marks the variant that runs here. Errors: those of reading
/// the bundle; kDevice, after all output, if no variant runs here.
Result<int> DiagnoseBundle(const std::string& path, OutputForm form);

}  // namespace tunec
