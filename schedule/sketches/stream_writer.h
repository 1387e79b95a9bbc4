// Writes the schedule of a stream for given numbers (stream.cc).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketches/stream_pairs.h"
#include "schedule/sketches/stream_plan.h"

namespace tunec {

struct StreamChoice {
  int64_t columns = 1;  // of a tile of the first product
  int64_t rows = 1;     // of a tile of the second
  int64_t widths = 16;
  int64_t unroll = 1;
  int64_t lanes = 1;      // of the target
  bool prefetch = false;  // the next chunk's columns, while this one's are multiplied
};

/// The arguments, or copies of them, of which each product reads other elements in each chunk: keys
/// and values. `pairs` may be null.
std::vector<std::string> ChunkedArguments(const StreamPlan& plan, const StreamPairs* pairs);

/// By plain multiply-adds, or by pairs where these are given.
Schedule WriteStreamSchedule(const StreamPlan& plan, const StreamPairs* pairs,
                             const StreamChoice& choice);

}  // namespace tunec
