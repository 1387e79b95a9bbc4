// A counter of the heap allocations of the whole test program. The counter replaces malloc, except
// under the address and thread sanitizers.
#pragma once

#include <cstdint>

namespace tunec {

/// Returns whether counting works. The address and thread sanitizers have their own malloc.
bool CanCountAllocations();

/// Returns the number of allocations of all threads so far, or 0 if counting does not work.
int64_t AllocationCount();

}  // namespace tunec
