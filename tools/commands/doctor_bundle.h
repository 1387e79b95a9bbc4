// `tunec doctor BUNDLE` reports a bundle's content, and whether the bundle runs on this machine.
#pragma once

#include <string>

#include "support/error.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Prints facts about the bundle and its variants, and which variants run here. Fails if the bundle
/// cannot be read. Fails with kDevice, after all output, if no variant runs here.
Result<int> DiagnoseBundle(const std::string& path, OutputForm form);

}  // namespace tunec
