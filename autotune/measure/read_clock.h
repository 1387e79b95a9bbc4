// Access to clocks of the system: wall time, and the time used by a thread or a process.
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
