// Threads of a warp that read each other's registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tunec {

inline constexpr size_t kWarpLanes = 32;

/// One thread's part in a shuffle.
struct WarpShuffle {
  int32_t site = 0;       // in the code, from 1 on; 0: it is in none
  uint32_t members = 0;   // the lanes that it waits for, by their bits
  uint32_t value = 0;     // its own, then its partner's
  uint32_t distance = 0;  // the bits in which its partner's lane differs
};

/// Empty when no thread of a warp is in a shuffle, or all are in the same one, for all of them;
/// else what is wrong.
std::string WhyDivergent(std::span<const WarpShuffle> lanes);

/// Gives each thread its partner's value. Requires: nothing is wrong.
void Exchange(std::span<WarpShuffle> lanes);

}  // namespace tunec
