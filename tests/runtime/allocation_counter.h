// A counter of the heap allocations of the whole test program. It replaces malloc.
#pragma once

#include <cstdint>

namespace tunec {

/// Returns whether counting works. The address and thread sanitizers have their own malloc.
bool CanCountAllocations();

/// Returns the number of allocations of all threads so far.
int64_t AllocationCount();

}  // namespace tunec
