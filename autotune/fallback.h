// Texts for users about the source of a kernel's schedule, and about the failure of the first
// analytic schedule. ScheduleRanking has the exact rule for choosing the schedule. The order is:
//   - the fastest measured schedule;
//   - if none was measured, the one of least predicted time;
//   - if none was predicted, the fastest under a near key;
//   - the first analytic schedule that is not known to fail;
//   - the naive schedule.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "autotune/best_schedule.h"

namespace tunec {

enum class ScheduleSource {
  kTuned,      // measured and correct
  kAnalytic,   // initial decisions of a sketch, not measured
  kNaive,      // loops as written, measured or not
  kPredicted,  // correct in the emulation, fastest by predicted times
  kNear,       // correct under a near key: same processor, other caches
};
/// Returns "tuned", "analytic", "naive", "predicted" or "near".
std::string_view Name(ScheduleSource source);
ScheduleSource SourceOf(const RankedSchedule& schedule);

/// Returns one line if a failure of the first analytic schedule, the default without records, is
/// recorded. The line has the reason, the source of the used schedule, and the known times of both.
/// Returns none without such a record. `database` may be null.
Result<std::optional<std::string>> DescribeFallback(const Database* database,
                                                    const TuningTask& task,
                                                    const TunerOptions& options,
                                                    const RankedSchedule& used);

}  // namespace tunec
