// `tunec doctor BUNDLE` reports the content of a bundle, and whether it runs on this machine.
#pragma once

#include <string>

#include "support/error.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Prints the sections and variants, and marks the variant that runs here. Fails if the bundle
/// cannot be read. Fails with kDevice, after all output, if no variant runs here.
Result<int> DiagnoseBundle(const std::string& path, OutputForm form);

}  // namespace tunec
