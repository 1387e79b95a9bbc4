// Assignment of offsets in one block of memory to intermediate values, before any run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/error.h"

namespace tunec {

/// A value that needs storage from step first_use, the first to write the value, to step last_use,
/// the last to access the value. Both are inclusive.
struct PlannedValue {
  int64_t bytes = 0;
  int64_t alignment = 64;  // a power of two
  int first_use = 0;
  int last_use = 0;
  /// Candidates for reuse in place, best first: values whose storage this value may take over. Step
  /// first_use reads each element of a candidate before it writes the same offset. PlanMemory
  /// ignores a candidate if it would break an invariant of VerifyPlan, for example if it is too
  /// small.
  std::vector<int> in_place_of;
};

struct MemoryPlan {
  std::vector<int64_t> offset;   // offset of each value in bytes
  std::vector<int> in_place_of;  // the value whose storage each value reuses, or -1
  int64_t total_bytes = 0;
};

/// Assigns offsets so that values alive at the same step do not overlap, unless one reuses the
/// other's storage. Returns the smallest of six plans: three greedy orders, each with and without
/// reuse in place. Requires: bytes >= 0, first_use <= last_use, candidates are positions in
/// `values`, alignments are powers of two. Ensures: VerifyPlan. Equal values give equal plans. The
/// time is O(values^2).
MemoryPlan PlanMemory(std::span<const PlannedValue> values);

/// Checks the invariants listed in memory_plan.cc. Fails with kInternal at the first invariant that
/// is broken.
Status VerifyPlan(std::span<const PlannedValue> values, const MemoryPlan& plan);

}  // namespace tunec
