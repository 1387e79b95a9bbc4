// Functions that run checks in child processes, because checks may crash or hang.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace tunec::fuzz {

/// Calls `body` in a child process, and `line` in this process for each line that the body writes.
/// Returns true if the child exits with status 0, and false after a crash or an alarm.
bool InChild(const std::function<void(FILE*)>& body,
             const std::function<void(const std::string&)>& line);

struct Batches {
  uint64_t cases = 0;      // 0: until the time limit
  double seconds = 0;      // 0: unlimited
  uint64_t per_child = 1;  // cases per child; a child's exit releases leaked memory
  unsigned jobs = 1;       // children at once
  unsigned seconds_per_case = 60;
};

/// The answer that is recorded for a case that crashed or hung.
inline constexpr std::string_view kCrashed = "crashed or hung";

/// Calls `check` for the cases 0, 1, ... in child processes. Calls `record` in this process with
/// the number of each case and its answer as one line. `record` gets the cases of one child in
/// order. A case that crashes or hangs is recorded with `kCrashed`, and the other cases continue.
/// Returns the number of recorded cases.
uint64_t RunBatches(const Batches& batches, const std::function<std::string(uint64_t)>& check,
                    const std::function<void(uint64_t, const std::string&)>& record);

}  // namespace tunec::fuzz
