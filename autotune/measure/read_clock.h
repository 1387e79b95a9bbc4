// Clocks of the system: of the wall, and of the time that a thread or a process has used.
#pragma once

#include <ctime>

namespace tunec {

/// Returns the time of a clock, such as CLOCK_MONOTONIC, in seconds.
inline double ReadClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace tunec
