// fuzz_graphs --any-size: random models compiled for any size, against the reference.
#pragma once

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Prints what was refused, with reasons, and what is wrong, with the graph at the sizes of the
/// run. Returns the exit code.
int FuzzAnySize(const FuzzOptions& options);

}  // namespace tunec::fuzz
