// Checks that may crash or hang, in processes of their own.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace tunec::fuzz {

/// Runs `body` in a child that writes lines to `line`. False when the child crashed or hung (the
/// body sets its alarm).
bool InChild(const std::function<void(FILE*)>& body,
             const std::function<void(const std::string&)>& line);

struct Batches {
  uint64_t cases = 0;      // 0: until the time is up
  double seconds = 0;      // 0: no limit
  uint64_t per_child = 1;  // cases, so that memory that a case leaves behind is given back
  unsigned jobs = 1;       // children at once
  unsigned seconds_per_case = 60;
};

/// What a child that crashed or hung is said to have answered.
inline constexpr std::string_view kCrashed = "crashed or hung";

/// Calls `check` for the cases 0, 1, ... in children and `record` here, with the answer made one
/// line: in the order of cases within a child, in any order between children. A case that crashes
/// or hangs is recorded with `kCrashed`, and the others go on. Returns how many were recorded.
uint64_t RunBatches(const Batches& batches, const std::function<std::string(uint64_t)>& check,
                    const std::function<void(uint64_t, const std::string&)>& record);

}  // namespace tunec::fuzz
