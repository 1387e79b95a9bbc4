// Where the schedule of a kernel comes from, and what people are told when it is not the one that
// they would expect. There is one rule, however many trials there were: the fastest schedule that
// is known to be right; where none was measured, the one of least predicted time; where there is
// none, the fastest under a near key; then the first analytic one that is not known to fail; the
// naive one at last.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "autotune/best_schedule.h"

namespace tunec {

enum class ScheduleSource {
  kTuned,      // measured and right
  kAnalytic,   // a sketch's first choice, not measured
  kNaive,      // no sketch's: the loops as written, measured or not
  kPredicted,  // right where it was emulated, and the fastest by predicted times
  kNear,       // measured and right under a near key: the same processor, other caches
};
/// "tuned", "analytic", "naive", "predicted", "near".
std::string_view Name(ScheduleSource source);
ScheduleSource SourceOf(const RankedSchedule& schedule);

/// One line when the first analytic schedule, which is used where nothing is recorded, has failed:
/// why, what is used instead, and how their times compare. None: it has not. `database` may be
/// null.
Result<std::optional<std::string>> DescribeFallback(const Database* database,
                                                    const TuningTask& task,
                                                    const TunerOptions& options,
                                                    const RankedSchedule& used);

}  // namespace tunec
