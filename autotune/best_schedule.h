// Selection of the schedule with which a task is compiled. Recorded schedules are tried before
// analytic ones.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autotune/task.h"
#include "autotune/tuner.h"
#include "db/database.h"
#include "schedule/sketch.h"
#include "support/error.h"

namespace tunec {

/// A schedule with which a task may be compiled, and the source of the schedule.
struct RankedSchedule {
  Schedule schedule;
  std::optional<double> seconds;  // recorded median; none: not recorded
  std::string sketch = {};        // sketch of an analytic schedule; empty: recorded
  bool predicted = false;         // `seconds` is a prediction, not a measurement
  bool near = false;              // `seconds` was measured under a near key
};

/// Returns whether the schedule was measured under one of the task's own keys, so that its time
/// holds for the task's target.
inline bool IsMeasured(const RankedSchedule& schedule) {
  return schedule.seconds && !schedule.predicted && !schedule.near;
}

/// A ranking of a task's schedules. A compiler takes the first schedule that applies. Recorded
/// schedules are not applied again here: they were legal when they were recorded. With kNaiveOnly
/// the ranking has only the naive schedule. Otherwise the order is:
///   - the best usable recorded schedule of each key of KeysByTrust. A schedule is usable if the
///     text can be parsed, the lowering is known, and no earlier key records a failure;
///   - without any of these, the best usable schedule of the nearest key (NearKeys) that has one.
///     Keys of seeds are left out. A time below the least time on this machine is from a faster
///     machine or wrong, so its schedule is skipped;
///   - the analytic schedules of the sketches, except those recorded as failures;
///   - the naive schedule, which is always present.
class ScheduleRanking {
 public:
  /// Makes the ranking from the trials in the database, and from the target, accuracy and sketches
  /// of the options. `packed` returns whether a constant is packed already; it may be empty. If the
  /// best schedule has constants to pack, another schedule may go first: it takes at most 5 %
  /// longer and needs constants, all of which are packed already. Requires: `database` and `task`
  /// outlive the ranking; `database` may be null. Errors: of the database.
  static Result<ScheduleRanking> Of(const Database* database, const TuningTask& task,
                                    const TunerOptions& options, IsPacked packed = {});

  /// Returns the next schedule, or none after the naive one. The sketches of a later SketchStage
  /// are expensive to find, so they are searched for only when all earlier schedules are taken.
  std::optional<RankedSchedule> Next();

 private:
  ScheduleRanking(const Database* database, const TuningTask& task, const TunerOptions& options,
                  IsPacked packed);
  Status AddBest(const Database& database, const TuningKey& key);
  Status AddFailures(const Database& database, const TuningKey& key);
  Status AddNear(const Database& database, const TunerOptions& options);
  bool AddRecord(const TrialRecord& record, const TuningKey& key);
  bool IsPlausible(const Schedule& schedule, double seconds, const TuningKey& key) const;
  Status AddPacked(const Database& database, const TuningKey& key, const TrialRecord& best);
  void AddStage();

  const TuningTask* task_;
  Target target_;
  RoundingFreedom rounding_;
  ArithmeticGain gain_;
  IsPacked packed_;
  std::optional<Roofline> roofline_;    // measured on this machine; none: unknown
  std::set<std::string> listed_;        // schedule texts that are ranked or failed
  std::deque<RankedSchedule> waiting_;  // schedules that Next returns first
  std::vector<SketchStage> stages_;     // stages not yet added
};

/// Returns all schedules of ScheduleRanking in order.
Result<std::vector<RankedSchedule>> RankSchedules(const Database* database, const TuningTask& task,
                                                  const TunerOptions& options);

struct RejectedSchedule {
  std::string sketch;
  Error error;
};

struct ChosenSchedule {
  RankedSchedule chosen;
  std::vector<RejectedSchedule> rejected;  // schedules before the chosen one
};

/// Returns the first schedule of ScheduleRanking that CheckApplies accepts. Errors: of the
/// database; if no schedule applies, the error of the last one.
Result<ChosenSchedule> ChooseSchedule(const Database* database, const TuningTask& task,
                                      const TunerOptions& options);

/// Returns the schedule of ChooseSchedule without the rejected ones.
Result<Schedule> BestSchedule(const Database* database, const TuningTask& task,
                              const TunerOptions& options);

}  // namespace tunec
