// The writer of the schedule of flash attention (stream.cc).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketches/stream_pairs.h"
#include "schedule/sketches/stream_plan.h"

namespace tunec {

struct StreamChoice {
  int64_t columns = 1;  // number of columns in a tile of the first product
  int64_t rows = 1;     // number of rows in a tile of the second product
  int64_t widths = 16;
  int64_t unroll = 1;
  int64_t lanes = 1;      // vector lanes of the target
  bool prefetch = false;  // prefetch the next KV block during the products of this one
};

/// Returns arguments, or copies in `pairs`, of which each KV block reads different elements: keys
/// and values. Returns an empty list without KV blocks. `pairs` may be null.
std::vector<std::string> ChunkedArguments(const StreamPlan& plan, const StreamPairs* pairs);

/// Returns the schedule of the plan, with plain multiply-adds if `pairs` is null, else with the
/// instruction of `pairs`.
Schedule WriteStreamSchedule(const StreamPlan& plan, const StreamPairs* pairs,
                             const StreamChoice& choice);

}  // namespace tunec
