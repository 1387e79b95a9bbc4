// The program fuzz_graphs --pad. It pads random models at several sizes to one size, and compares
// the results with the reference.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Prints the rejections by reason, and the wrong results. Reduces wrong cases and writes them to
/// `folder`. Returns the exit code, which is 1 if a result is wrong, else 0.
int FuzzPad(const FuzzOptions& options, const std::string& folder);

}  // namespace tunec::fuzz
