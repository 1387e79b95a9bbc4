// The program fuzz_graphs --pad: random models at several sizes, padded to one, compared with the
// reference.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Prints the rejections by operator, and the wrong results. Wrong results are also written to
/// `folder`. Returns the exit code.
int FuzzPad(const FuzzOptions& options, const std::string& folder);

}  // namespace tunec::fuzz
