// Texts for users about the source of a kernel's schedule, and about the failure of the first
// analytic schedule. The schedule is chosen by a rule that does not depend on the number of trials:
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

/// Returns one line if the first analytic schedule, the default without records, has failed. The
/// line has the reason, the schedule used instead, and a comparison of their times. Returns none if
/// that schedule has not failed. `database` may be null.
Result<std::optional<std::string>> DescribeFallback(const Database* database,
                                                    const TuningTask& task,
                                                    const TunerOptions& options,
                                                    const RankedSchedule& used);

}  // namespace tunec
