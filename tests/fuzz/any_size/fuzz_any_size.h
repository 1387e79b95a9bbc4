// The program fuzz_graphs --any-size: random dynamic-shape models against the reference.
#pragma once

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Prints how often each reason rejected a model, and each wrong result with its listed sizes and
/// the graph at the example sizes. Returns the exit code: 1 for wrong results.
int FuzzAnySize(const FuzzOptions& options);

}  // namespace tunec::fuzz
