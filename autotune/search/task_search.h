// The search of one task. It holds the recorded trials and the space, and proposes candidates.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autotune/best_code.h"
#include "autotune/measure/ceilings.h"
#include "autotune/measure/measurement.h"
#include "autotune/search/history.h"
#include "autotune/search/search_space.h"
#include "autotune/search/seeds.h"
#include "autotune/search/task_scheduler.h"
#include "autotune/task.h"
#include "autotune/tune_with.h"
#include "autotune/tuner.h"
#include "db/database.h"
#include "support/error.h"

namespace tunec {

class TaskSearch {
 public:
  TaskSearch(TuningTask task, const TunerOptions& options, const Ceilings& ceilings);

  /// Reads the task's trials. If a convergence is recorded, makes the space. The convergence is
  /// used if the space is unchanged and the reason is still valid.
  Status Load(const Database& database, const SketchSource& sketches);
  /// Adds the trials that other processes have recorded since Load or the last call.
  Status LoadNewTrials(const Database& database);
  /// Records that more trials would not help, for this and later runs. `convergence` has the
  /// reason.
  Status RecordConverged(Database& database, const Convergence& convergence);
  /// Reopens the search if the convergence is not valid after a ceiling was measured again.
  Status ReopenBelowCeiling(Database& database);
  /// Reopens the search in any case. The search then converges only if many new trials bring no
  /// gain or no candidate is left, and never at a ceiling.
  Status Reopen(Database& database, const SketchSource& sketches);

  const TuningTask& task() const { return task_; }
  const TuningKey& key() const { return key_; }
  /// Returns the workload that the worker receives.
  Workload MakeWorkload() const;

  /// Makes the space if it does not exist yet, and finds the loaded trials' candidates in it.
  void EnsureSpace(const SketchSource& sketches);

  /// Returns at most `count` candidates without a trial in the history. Until a candidate is
  /// correct, returns one at a time: the measured seeds, then the analytic schedules, the naive one
  /// last. Then come the other seeds, the best of similar workloads, the other analytic schedules
  /// and the strategies. `spent` is the used fraction of the task's trials in this call; from
  /// kDescendFrom on, coordinate descent precedes the evolutionary strategy. The result is empty if
  /// no untried candidate was found. Requires: EnsureSpace.
  Result<std::vector<Candidate>> Propose(int count, double spent, const Database& database);
  static constexpr double kDescendFrom = 0.62;

  /// Adds a trial to the history. `seconds` and `low` are comparable with the history's other
  /// times: the ratio to the incumbent times the incumbent's time, and the lower end of its
  /// interval.
  void Add(const Candidate& candidate, TrialStatus status, double seconds, double low);
  /// Updates the best time from one trial, while the rest of its batch is still being measured.
  void NoteTime(const std::string& schedule, double seconds);
  void UpdateTime(const std::string& schedule, double seconds);
  /// Reports this schedule as the best one, until the search proposes candidates again.
  void Choose(const std::string& schedule);
  /// Returns the reason to end the search; none if it should continue. One reason is a large number
  /// of trials without progress. The other is a best kernel within 3 % of the firm ceiling of its
  /// arithmetic (Ceilings::IsFirm), if no other sketch may be faster and Reopen was not called.
  /// Requires: EnsureSpace.
  std::optional<Convergence> FindConvergence() const;
  /// Returns the arithmetics of the other sketches if the best kernel is near its ceiling, else an
  /// empty list. The search ends at that ceiling only if none of these arithmetics may have a
  /// higher one. Requires: EnsureSpace.
  std::vector<const MacInstruction*> FindRivalArithmetics() const;
  /// Returns the convergence of a search without candidates left. Requires: EnsureSpace.
  Convergence Exhausted() const { return {space_->Fingerprint(), ConvergenceReason::kExhausted}; }
  static constexpr double kNearCeiling = 1.03;

  /// Returns the fastest schedule and its time; none before the first correct trial.
  std::optional<Incumbent> BestKnown() const;
  /// Returns the rate of the best kernel, in useful operations per second; 0 without a best kernel.
  double BestFlopsPerSecond() const;

  /// Returns the text that describes a candidate, its origin and the seed in a trial's note.
  std::string DescribeNote(const Candidate& candidate) const;
  std::vector<TriedCandidate> Ranked() const { return history_.Ranked(); }
  std::optional<double> SecondsOf(const std::string& schedule) const {
    return history_.SecondsOf(schedule);
  }
  /// Returns the schedule that is used without tuning: the first sketch's analytic one that is
  /// correct. Returns none if no such schedule was tried. Requires: EnsureSpace.
  std::optional<std::string> AnalyticSchedule() const;
  TaskState State() const;

  double weight = 1;      // sum of the weights of all equal tasks
  bool left_out = false;  // not tuned in this call, since TunerOptions::retune names other tasks
  std::vector<size_t> positions;  // positions in the caller's list of all tasks of this search
  TaskProgress progress;
  BestCode best_code;

 private:
  /// Returns the least seconds of the arithmetic operations at the rate PeakFlops; 0 if PeakFlops
  /// returns none.
  double ArithmeticSeconds() const;
  double TrafficSeconds() const { return ceilings_.TrafficSeconds(key_.workload.bytes); }
  int64_t Patience() const;
  /// Returns Ceilings::PeakFlops for progress.arithmetic; none without an arithmetic.
  std::optional<double> PeakFlops() const;
  bool IsNearCeiling() const;
  /// Returns true if the schedule is for a lowering that transforms its operands.
  bool IsTransformed(const std::string& schedule) const;
  /// Returns the arithmetics of the searched sketches' analytic schedules, each once, except
  /// progress.arithmetic. Requires: EnsureSpace.
  std::vector<KernelArithmetic> OtherArithmetics() const;
  /// Returns true if one of OtherArithmetics may be faster than that of the best schedule, or an
  /// untried sketch transforms its operands. Requires: EnsureSpace, and a known PeakFlops.
  bool MayAnotherBeFaster() const;
  bool StillHolds(const Convergence& convergence) const;
  void Take(const TrialRecord& record);
  void ShowBest();
  std::optional<KernelArithmetic> CurrentArithmetic(const std::string& schedule) const;
  void OfferAnalytic(std::vector<Candidate>& chosen, int count);
  void OfferSeeds(std::vector<Candidate>& chosen, int count, const std::vector<TrialRecord>& seeds,
                  std::string_view origin);
  Result<std::vector<Candidate>> FindTransfers(const Database& database) const;
  Status OfferTransfers(std::vector<Candidate>& chosen, int count, const Database& database);
  void OfferSearched(std::vector<Candidate>& chosen, int count, double spent);
  bool Offer(std::vector<Candidate>& chosen, Candidate candidate) const;

  TuningTask task_;
  const TunerOptions& options_;
  TuningKey key_;
  const Ceilings& ceilings_;
  std::vector<TrialRecord> records_;  // loaded records, until the space exists
  std::optional<SearchSpace> space_;
  History history_;
  std::string chosen_;          // schedule of Choose; empty: the fastest one is reported
  std::string shown_;           // schedule of progress.arithmetic; empty: the plain loops
  std::optional<Seeds> seeds_;  // none: not read yet
  std::optional<std::vector<Candidate>> transfers_;  // none: not read yet
  bool heeds_ceiling_ = true;
};

}  // namespace tunec
