// fuzz_graphs --pad: random models at several sizes, padded to one, against the reference.
#pragma once

#include <string>

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Prints what was refused, by operator, and what is wrong, which is written to `folder` too.
/// Returns the exit code.
int FuzzPad(const FuzzOptions& options, const std::string& folder);

}  // namespace tunec::fuzz
