// The program fuzz_graphs --any-size: random dynamic-shape models against the reference.
#pragma once

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Prints the rejected models with reasons, and the wrong results with the graph at the run's
/// sizes. Returns the exit code.
int FuzzAnySize(const FuzzOptions& options);

}  // namespace tunec::fuzz
