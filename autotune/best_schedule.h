// Selects the schedule that a task is compiled with: the best recorded one, else an analytic one.
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

/// A schedule to compile a task with.
struct RankedSchedule {
  Schedule schedule;
  std::optional<double> seconds;  // recorded median; none: not recorded
  std::string sketch = {};        // sketch of an analytic schedule; empty: recorded
  bool predicted = false;         // `seconds` is a prediction, not a measurement
  bool near = false;              // `seconds` was measured under a near key
};

/// A ranking of a task's schedules. A compiler takes the first schedule that applies. Recorded
/// schedules are not applied again here: they were legal when they were recorded. The order is:
///   - the best measured schedule, then the one of the best predicted time, if readable;
///   - without both, the best schedule of the nearest key (NearKeys) that has one;
///   - the analytic schedules of the sketches, except those recorded as failures;
///   - the naive schedule, which is always present.
class ScheduleRanking {
 public:
  /// Requires: `database` and `task` outlive the ranking; `database` may be null. Reads trials,
  /// target, accuracy and sketches of the options. Among schedules about as fast as the best, a
  /// schedule whose constants are all packed already goes first.
  static Result<ScheduleRanking> Of(const Database* database, const TuningTask& task,
                                    const TunerOptions& options, IsPacked packed = {});

  /// Returns the next schedule; none after the naive one. Sketches that are expensive to find
  /// (SketchStage) are searched for only when all schedules before them are taken.
  std::optional<RankedSchedule> Next();

 private:
  ScheduleRanking(const Database* database, const TuningTask& task, const TunerOptions& options,
                  IsPacked packed);
  Status AddBest(const Database& database, const TuningKey& key);
  Status AddFailures(const Database& database, const TuningKey& key);
  Status AddNear(const Database& database, const TunerOptions& options);
  bool AddRecord(const TrialRecord& record, const TuningKey& key);
  Status AddPacked(const Database& database, const TuningKey& key, const TrialRecord& best);
  void AddStage();

  const TuningTask* task_;
  Target target_;
  RoundingFreedom rounding_;
  ArithmeticGain gain_;
  IsPacked packed_;
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

/// Returns the first schedule of ScheduleRanking that CheckApplies accepts.
Result<ChosenSchedule> ChooseSchedule(const Database* database, const TuningTask& task,
                                      const TunerOptions& options);

/// Returns only the schedule that ChooseSchedule chooses.
Result<Schedule> BestSchedule(const Database* database, const TuningTask& task,
                              const TunerOptions& options);

}  // namespace tunec
