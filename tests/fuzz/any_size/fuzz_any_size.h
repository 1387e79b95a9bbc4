// The program fuzz_graphs --any-size. It compares random dynamic-shape models with the reference.
#pragma once

#include "tests/fuzz/fuzz_options.h"

namespace tunec::fuzz {

/// Checks random models. Prints the rejections by reason, and each wrong result with the listed
/// sizes and the graph with named sizes. Returns 1 if a result is wrong, else 0.
int FuzzAnySize(const FuzzOptions& options);

}  // namespace tunec::fuzz
