// Time that has passed, of the clock that never goes back.
#pragma once

#include <chrono>
#include <utility>

namespace tunec {

class Stopwatch {
 public:
  /// Milliseconds since construction or the last Lap.
  double Milliseconds() const { return Between(start_, Clock::now()); }
  /// The same, and starts anew.
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
