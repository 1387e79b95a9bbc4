// A class that measures elapsed time with a monotonic clock.
#pragma once

#include <chrono>
#include <utility>

namespace tunec {

class Stopwatch {
 public:
  /// Returns the milliseconds since construction or the last Lap.
  double Milliseconds() const { return Between(start_, Clock::now()); }
  /// Returns the same as Milliseconds, and restarts the measurement.
  double Lap() {
    const Clock::time_point now = Clock::now();
    return Between(std::exchange(start_, now), now);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double Between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
  }
  Clock::time_point start_ = Clock::now();
};

}  // namespace tunec
