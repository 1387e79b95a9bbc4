// The program fuzz_graphs --any-size. It compares random dynamic-shape models with the reference.
#pragma once

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Prints how often each reason rejected a model, and each wrong result with its listed sizes and
/// the graph at the example sizes. Returns the exit code, which is 1 if a result is wrong, else 0.
int FuzzAnySize(const FuzzOptions& options);

}  // namespace tunec::fuzz
