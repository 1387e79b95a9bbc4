// The program fuzz_graphs --pad. It pads random models with named sizes, and compares the results
// at smaller sizes with the reference.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Checks padding in random cases. Prints the rejections by reason, and the wrong results. Writes
/// the first wrong cases, reduced, to `folder`. Returns 1 if a result is wrong, else 0.
int FuzzPad(const FuzzOptions& options, const std::string& folder);

}  // namespace tunec::fuzz
