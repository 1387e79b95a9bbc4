// Where intermediate values lie in one block of memory, decided before any run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/error.h"

namespace tunec {

/// A value that needs storage from step first_use (which writes it) to step last_use (the last
/// that reads it), both inclusive.
struct PlannedValue {
  int64_t bytes = 0;
  int64_t alignment = 64;  // a power of two
  int first_use = 0;
  int last_use = 0;
  /// Values whose storage this one may take over, best first: inputs of step first_use that
  /// nobody reads after it, and which that step reads no later than it writes the same place.
  std::vector<int> in_place_of;
};

struct MemoryPlan {
  std::vector<int64_t> offset;   // of each value, bytes
  std::vector<int> in_place_of;  // the value whose storage it took over, or -1
  int64_t total_bytes = 0;
};

/// Assigns offsets so that values alive at the same step do not overlap, in about the least
/// memory: the best of several greedy orders, with and without reuse in place.
/// Requires: bytes >= 0, first_use <= last_use, alignments powers of two. Ensures: VerifyPlan.
/// Deterministic. O(values^2).
MemoryPlan PlanMemory(std::span<const PlannedValue> values);

/// Checks the invariants listed in memory_plan.cc; kInternal names the values that break one.
Status VerifyPlan(std::span<const PlannedValue> values, const MemoryPlan& plan);

}  // namespace tunec
