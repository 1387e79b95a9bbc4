// The search of one task: its records, its space, and what to try next.
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

  /// Reads what the database knows. Makes the space of a task that has converged, to see whether it
  /// was this one.
  Status Load(const Database& database, const SketchSource& sketches);
  /// Takes in what other processes have recorded since.
  Status CatchUp(const Database& database);
  /// More trials would not help: to be known tomorrow too.
  Status RecordConverged(Database& database, const Convergence& convergence);
  /// Takes the search up again where the ceiling that it converged at has turned out too low.
  Status ReopenBelowCeiling(Database& database);
  /// Takes the search up again whatever has been recorded. Only what this search finds from now on
  /// ends it, and no ceiling does.
  Status Reopen(Database& database, const SketchSource& sketches);

  const TuningTask& task() const { return task_; }
  const TuningKey& key() const { return key_; }
  /// As the worker sees it.
  Workload MakeWorkload() const;

  /// Makes the space, when there is none yet.
  void EnsureSpace(const SketchSource& sketches);

  /// Requires: EnsureSpace. At most `count` candidates the database has no trial of. `spent`: the
  /// part of the whole budget that is used up; beyond kDescendFrom the strategy is coordinate
  /// descent. What was fastest under another policy comes first, then analytic schedules, one by
  /// one until one is correct, the naive one last.
  /// None: converged.
  Result<std::vector<Candidate>> Propose(int count, double spent, const Database& database);
  static constexpr double kDescendFrom = 0.62;

  /// Takes note of a recorded trial.
  void Add(const Candidate& candidate, const TrialRecord& record);
  /// Of its time alone, while the rest of its batch is still being measured.
  void NoteTime(const std::string& schedule, double seconds);
  void Retimed(const std::string& schedule, double seconds);
  /// Why more trials are not worth their time: no progress for long, or the best is within 3 % of
  /// the sure ceiling of its own arithmetic, and no sketch has another that allows more. None: they
  /// are. Requires: EnsureSpace.
  std::optional<Convergence> Saturated() const;
  /// Of what the sketches offer besides the best's own arithmetic, once the best is near the
  /// ceiling of that: whether the search ends there depends on theirs. Requires: EnsureSpace.
  std::vector<const MacInstruction*> Rivals() const;
  /// Nothing is left to try. Requires: EnsureSpace.
  Convergence Exhausted() const { return {space_->Fingerprint(), ConvergenceReason::kExhausted}; }
  static constexpr double kNearCeiling = 1.03;

  /// The fastest schedule, and its time; none: no correct trial yet.
  std::optional<Incumbent> BestKnown() const;
  /// The best kernel's rate; 0 without one.
  double BestFlopsPerSecond() const;

  /// The text of a trial's note.
  std::string NoteOf(const Candidate& candidate) const;
  std::vector<Tried> Ranked() const { return history_.Ranked(); }
  TaskState State() const;

  double weight = 1;              // of all equal tasks together
  bool left_out = false;          // of this tuning
  std::vector<size_t> positions;  // of these in the caller's list
  TaskProgress progress;
  BestCode best_code;

 private:
  /// 0 where no arithmetic, or none of a known ceiling, takes time.
  double ArithmeticSeconds() const;
  double TrafficSeconds() const { return key_.workload.bytes / ceilings_.BytesPerSecond(); }
  int64_t Patience() const;
  /// The ceiling of the best's arithmetic, as useful operations per second.
  std::optional<double> PeakFlops() const;
  bool NearCeiling() const;
  /// Whether the schedule is for a lowering that transforms its operands.
  bool IsTransformed(const std::string& schedule) const;
  /// The other arithmetics of the sketches' analytic schedules. Requires: EnsureSpace.
  std::vector<KernelArithmetic> OtherArithmetics() const;
  /// Whether one of these may be faster than the best's, or a sketch does fewer operations and was
  /// not tried yet. Requires: EnsureSpace, and PeakFlops of the best.
  bool AnotherAllowsMore() const;
  bool StillHolds(const Convergence& convergence) const;
  void Take(const TrialRecord& record);
  void ShowBest();
  std::optional<KernelArithmetic> JudgedBy(const std::string& schedule) const;
  void OfferAnalytic(std::vector<Candidate>& chosen, int count);
  void OfferSeeds(std::vector<Candidate>& chosen, int count, const std::vector<TrialRecord>& seeds,
                  std::string_view origin);
  Status OfferTransfers(std::vector<Candidate>& chosen, int count, const Database& database);
  void OfferSearched(std::vector<Candidate>& chosen, int count, double spent);
  bool Offer(std::vector<Candidate>& chosen, Candidate candidate) const;

  TuningTask task_;
  const TunerOptions& options_;
  TuningKey key_;
  const Ceilings& ceilings_;
  std::vector<TrialRecord> records_;  // loaded, until there is a space
  std::optional<SearchSpace> space_;
  History history_;
  std::string shown_;  // the schedule that progress.arithmetic is of; empty: the plain loops
  std::optional<Seeds> seeds_;  // none: not read yet
  bool transferred_ = false;
  bool heeds_ceiling_ = true;
};

}  // namespace tunec
