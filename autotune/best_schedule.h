// Which schedule a task is compiled with: the best recorded one, else an analytic one.
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
  std::optional<double> seconds;  // its recorded median; none: there is no record of it
  std::string sketch = {};        // that it is the analytic schedule of; empty: it was recorded
  bool predicted = false;         // `seconds` were: nobody measured them
  bool near = false;              // `seconds` were measured under a near key
};

/// The best schedule that was measured, then the best of predicted time, as far as they are
/// readable; without any such the best of the nearest key (NearKeys) that has one; then the
/// analytic schedules of the sketches, without those recorded as failures; the naive one is last
/// and always there. A compiler takes the first that applies. A recorded schedule is not applied
/// again here: it was legal when it was recorded.
class ScheduleRanking {
 public:
  /// `database` may be null; it must outlive the ranking, as must `task`. Reads trials, target,
  /// accuracy and sketches of the options. Of schedules that are about as fast as the best one, one
  /// whose constants all are packed already goes first.
  static Result<ScheduleRanking> Of(const Database* database, const TuningTask& task,
                                    const TunerOptions& options, IsPacked packed = {});

  /// The next one; none after the naive one. Sketches that cost much to find (SketchStage) are
  /// sought when all before them are taken.
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
  std::set<std::string> listed_;        // texts that are ranked already, or failed
  std::deque<RankedSchedule> waiting_;  // the next ones
  std::vector<SketchStage> stages_;     // still to come
};

/// All of ScheduleRanking.
Result<std::vector<RankedSchedule>> RankSchedules(const Database* database, const TuningTask& task,
                                                  const TunerOptions& options);

struct RefusedSchedule {
  std::string sketch;
  Error error;
};

struct ChosenSchedule {
  RankedSchedule chosen;
  std::vector<RefusedSchedule> refused;  // those before it
};

/// The first of ScheduleRanking that CheckApplies accepts.
Result<ChosenSchedule> ChooseSchedule(const Database* database, const TuningTask& task,
                                      const TunerOptions& options);

/// The same, by itself.
Result<Schedule> BestSchedule(const Database* database, const TuningTask& task,
                              const TunerOptions& options);

}  // namespace tunec
