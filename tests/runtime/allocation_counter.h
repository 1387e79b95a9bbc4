// Counts the heap allocations of the whole test program, by standing in front of malloc.
#pragma once

#include <cstdint>

namespace tunec {

/// Whether counting works: not under a sanitizer, which brings its own malloc.
bool CanCountAllocations();

/// Allocations of all threads so far.
int64_t AllocationCount();

}  // namespace tunec
