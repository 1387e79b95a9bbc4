// The recording of a table of times: candidates of a search space are measured in turns with one
// fixed kernel.
#pragma once

#include <cstdint>
#include <functional>

#include "autotune/accuracy.h"
#include "autotune/measure/measurer.h"
#include "autotune/search/search_space.h"
#include "autotune/simulation/time_table.h"
#include "autotune/task.h"
#include "support/error.h"

namespace tunec {

struct RecordingOptions {
  int64_t candidates = 0;  // number of random candidates
  uint64_t seed = 0;
  int batch = 12;  // candidates that are sent to the measurer at once
  /// Receives the table after each batch, and the number of candidates of the complete table. An
  /// error ends the recording. May be empty.
  std::function<Status(const TimeTable& table, size_t total)> on_batch;
};

/// Measures the analytic schedule of each sketch, then random candidates of MakeRandomStrategy. In
/// a small space these are all candidates. The fixed kernel is the first correct analytic schedule.
/// Of thousands of candidates, the fastest ones are partly those whose few samples were lucky. So
/// the fastest ones are then compared with the fixed kernel in many turns, until the first 32 have
/// times of such a comparison.
/// `table` is empty, or a part of the table of equal arguments, which is then completed. Errors:
/// those of the measurer and of `on_batch`; kInvalidArgument if the table has another space or
/// other candidates; kNotFound if no analytic schedule is correct.
Status RecordTimes(TimeTable& table, const TuningTask& task, const Workload& workload,
                   const SearchSpace& space, Measurer& measurer, const RecordingOptions& options);

}  // namespace tunec
