#include "autotune/search/task_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "autotune/search/seeds.h"
#include "autotune/search/strategy.h"
#include "schedule/sketches/transformed_plan.h"
#include "schedule/steps/apply_compute_steps.h"
#include "support/random.h"

namespace tunec {
namespace {

// Limits of the number of trials without gain after which a search ends. Between them the number
// grows with the model's budget.
constexpr int64_t kLeastPatience = 64;
constexpr int64_t kMostPatience = 1024;
constexpr int64_t kPatiencePart = 8;  // an eighth of the model's trials
constexpr size_t kTransfers = 2;      // number of candidates from similar workloads
constexpr size_t kPredictions = 8;    // number of predicted seeds

double Distance(const WorkloadKey& a, const WorkloadKey& b) {
  const auto ratio = [](double x, double y) { return std::abs(std::log2((x + 1) / (y + 1))); };
  return ratio(a.flops, b.flops) + ratio(a.bytes, b.bytes);
}

// Returns the operations per run of a lowering that transforms operands, as Winograd's does.
// Statements on constants alone are not counted, because they run once at compile time. Returns
// none for other lowerings.
std::optional<double> TransformedFlops(const Compute& compute) {
  if (!HasTransforms(compute)) return std::nullopt;
  Compute run = compute;
  EraseIf(run.statements,
          [&](const Statement& statement) { return IsMadeOfConstant(compute, statement); });
  return CountWork(run).flops;
}

}  // namespace

TaskSearch::TaskSearch(TuningTask task, const TunerOptions& options, const Ceilings& ceilings)
    : weight(task.weight),
      best_code(task_, options.target, options.accuracy),
      task_(std::move(task)),
      options_(options),
      ceilings_(ceilings) {
  key_ = MakeTuningKey(task_, options.target, options.accuracy);
  progress.description = task_.description;
  progress.flops = key_.workload.flops;
  progress.bytes = key_.workload.bytes;
  progress.arithmetic = CurrentArithmetic("");
}

Status TaskSearch::Load(const Database& database, const SketchSource& sketches) {
  TUNEC_ASSIGN(records_, database.Trials(key_));
  TUNEC_ASSIGN(progress.trials, database.CountTrials(key_));
  for (const TrialRecord& record : records_) Take(record);
  TUNEC_ASSIGN(const std::optional<std::string> chosen, database.Chosen(key_));
  Choose(chosen.value_or(""));
  TUNEC_ASSIGN(const std::optional<Convergence> converged, database.Converged(key_));
  if (!converged) return {};
  EnsureSpace(sketches);
  if (converged->space != space_->Fingerprint()) {
    history_.ForgetStaleness();
  } else if (StillHolds(*converged)) {
    progress.converged = converged;
  }
  return {};
}

// Returns true if the reason for convergence is still valid. The patience depends on the budget of
// this call, and the ceiling may have been measured again.
bool TaskSearch::StillHolds(const Convergence& convergence) const {
  switch (convergence.reason) {
    case ConvergenceReason::kExhausted:
      return true;
    case ConvergenceReason::kStale:
      return convergence.bound >= static_cast<double>(Patience());
    case ConvergenceReason::kCeiling: {
      // If the ceiling of the best kernel's arithmetic is unknown, the convergence is not valid. An
      // earlier version may have compared the kernel with the ceiling of float32.
      const std::optional<double> peak = PeakFlops();
      return peak && (*peak <= convergence.bound || IsNearCeiling());
    }
    case ConvergenceReason::kUnknown:
      break;
  }
  return history_.CountStale() >= Patience() || IsNearCeiling();
}

Status TaskSearch::LoadNewTrials(const Database& database) {
  TUNEC_ASSIGN(const int64_t recorded, database.CountTrials(key_));
  if (recorded == progress.trials) return {};
  progress.trials = recorded;
  TUNEC_ASSIGN(const std::vector<TrialRecord> records, database.Trials(key_));
  for (const TrialRecord& record : records) {
    if (history_.HasSeen(record.schedule)) continue;
    if (!space_) records_.push_back(record);
    Take(record);
  }
  ShowBest();
  return {};
}

void TaskSearch::Take(const TrialRecord& record) {
  std::optional<Candidate> candidate;
  if (space_) candidate = space_->Recall(record.note, record.schedule);
  const double seconds = record.median_seconds;
  history_.Add({std::move(candidate), record.schedule, record.status, seconds, seconds});
}

Status TaskSearch::RecordConverged(Database& database, const Convergence& convergence) {
  progress.converged = convergence;
  return database.SetConverged(key_, convergence);
}

Status TaskSearch::ReopenBelowCeiling(Database& database) {
  if (!progress.converged || StillHolds(*progress.converged)) return {};
  progress.converged.reset();
  return database.ClearConverged(key_);
}

Status TaskSearch::Reopen(Database& database, const SketchSource& sketches) {
  EnsureSpace(sketches);
  history_.ForgetStaleness();
  heeds_ceiling_ = false;
  if (!progress.converged) return {};
  progress.converged.reset();
  return database.ClearConverged(key_);
}

Workload TaskSearch::MakeWorkload() const {
  return {.lowerings = task_.lowerings,
          .target = options_.target,
          .accuracy = options_.accuracy,
          .seed = options_.seed,
          .device = options_.device,
          .callers = task_.callers};
}

void TaskSearch::EnsureSpace(const SketchSource& sketches) {
  if (space_) return;
  space_.emplace(sketches(task_));
  history_ = {};
  for (const TrialRecord& record : std::exchange(records_, {})) Take(record);
}

bool TaskSearch::Offer(std::vector<Candidate>& chosen, Candidate candidate) const {
  if (history_.HasSeen(candidate.schedule)) return false;
  const auto same = [&](const Candidate& other) { return other.schedule == candidate.schedule; };
  if (std::ranges::any_of(chosen, same)) return false;
  chosen.push_back(std::move(candidate));
  return true;
}

// Offers the analytic schedules. Until a candidate is correct, they are offered one at a time: the
// next schedule is only needed if the previous one fails. Afterwards the untried ones of the
// searched sketches fill the batch.
void TaskSearch::OfferAnalytic(std::vector<Candidate>& chosen, int count) {
  const bool any = history_.HasCorrect();
  const int sketches = any ? space_->Searched() : space_->Naive() + 1;
  const int most = any ? count : 1;
  for (int s = 0; s < sketches && static_cast<int>(chosen.size()) < most; ++s) {
    Offer(chosen, space_->Initial(s));
  }
}

// Offers the seeds' schedules. If the sketch of a seed has changed since the record, the candidate
// with the nearest values of the knobs is offered. A seed is skipped if its sketch is missing.
void TaskSearch::OfferSeeds(std::vector<Candidate>& chosen, int count,
                            const std::vector<TrialRecord>& seeds, std::string_view origin) {
  for (const TrialRecord& seed : seeds) {
    if (static_cast<int>(chosen.size()) >= count) break;
    std::optional<Candidate> candidate = space_->Recall(seed.note, seed.schedule);
    if (!candidate) candidate = space_->Transfer(seed.note);
    if (!candidate) continue;
    candidate->origin = origin;
    Offer(chosen, std::move(*candidate));
  }
}

// Returns the best schedules of the most similar workloads, as candidates of the space that were
// not tried.
Result<std::vector<Candidate>> TaskSearch::FindTransfers(const Database& database) const {
  TUNEC_ASSIGN(std::vector<TunedWorkload> near,
               database.NearestWorkloads(key_.workload.kind, key_.target, kScheduleVersion));
  std::erase_if(near, [&](const TunedWorkload& other) {
    return other.key.workload.text == key_.workload.text ||
           TimingMethod(other.key.policy) != TimingMethod(key_.policy);
  });
  std::ranges::sort(near, [&](const TunedWorkload& a, const TunedWorkload& b) {
    const auto order = [&](const TunedWorkload& w) {
      return std::make_tuple(Distance(w.key.workload, key_.workload), w.key.workload.text);
    };
    return order(a) < order(b);
  });
  std::vector<Candidate> transfers;
  for (const TunedWorkload& other : near) {
    if (transfers.size() == kTransfers) break;
    if (auto candidate = space_->Transfer(other.best.note)) Offer(transfers, *std::move(candidate));
  }
  return transfers;
}

Status TaskSearch::OfferTransfers(std::vector<Candidate>& chosen, int count,
                                  const Database& database) {
  if (!transfers_) {
    TUNEC_ASSIGN(transfers_, FindTransfers(database));
  }
  for (const Candidate& candidate : *transfers_) {
    if (static_cast<int>(chosen.size()) >= count) break;
    Offer(chosen, candidate);
  }
  return {};
}

void TaskSearch::OfferSearched(std::vector<Candidate>& chosen, int count, double spent) {
  // The random stream depends on the size of the history, so that a resumed search does not repeat
  // its proposals.
  Random random(StreamSeed(options_.seed + history_.size(), key_.workload.text));
  const auto evolve = MakeEvolutionaryStrategy();
  const auto descend = MakeCoordinateDescent();
  const auto anywhere = MakeRandomStrategy();
  const bool late = spent >= kDescendFrom;
  for (const Strategy* strategy :
       {late ? descend.get() : evolve.get(), late ? evolve.get() : descend.get(), anywhere.get()}) {
    // `count` candidates are requested, not only the missing ones, since the strategy may propose
    // candidates that are chosen already.
    const int missing = count - static_cast<int>(chosen.size());
    if (missing <= 0) return;
    const int asked = missing + static_cast<int>(chosen.size());
    for (Candidate& candidate : strategy->Propose(*space_, history_, asked, random)) {
      if (static_cast<int>(chosen.size()) == count) return;
      Offer(chosen, std::move(candidate));
    }
  }
}

Result<std::vector<Candidate>> TaskSearch::Propose(int count, double spent,
                                                   const Database& database) {
  if (!chosen_.empty()) Choose("");
  std::vector<Candidate> chosen;
  if (!seeds_) {
    TUNEC_ASSIGN(seeds_, FindSeeds(database, key_, kPredictions, EarlierWorkloadText(task_)));
  }
  OfferSeeds(chosen, history_.HasCorrect() ? count : 1, seeds_->measured, "remeasured");
  if (!history_.HasCorrect()) {
    OfferAnalytic(chosen, count);
    return chosen;
  }
  OfferSeeds(chosen, count, seeds_->predicted, "predicted");
  TUNEC_RETURN_IF_ERROR(OfferTransfers(chosen, count, database));
  OfferAnalytic(chosen, count);
  OfferSearched(chosen, count, spent);
  return chosen;
}

void TaskSearch::Add(const Candidate& candidate, TrialStatus status, double seconds, double low) {
  history_.Add({candidate, candidate.schedule, status, seconds, low});
  ShowBest();
}

void TaskSearch::Choose(const std::string& schedule) {
  chosen_ = schedule;
  ShowBest();
}

std::optional<std::string> TaskSearch::AnalyticSchedule() const {
  for (int sketch = 0; sketch <= space_->Naive(); ++sketch) {
    std::string schedule = space_->Initial(sketch).schedule;
    if (history_.SecondsOf(schedule)) return schedule;
  }
  return std::nullopt;
}

void TaskSearch::UpdateTime(const std::string& schedule, double seconds) {
  history_.SetSeconds(schedule, seconds);
  ShowBest();
}

void TaskSearch::NoteTime(const std::string& schedule, double seconds) {
  if (progress.best_seconds && seconds >= *progress.best_seconds) return;
  progress.best_seconds = seconds;
  if (schedule != shown_) progress.arithmetic = CurrentArithmetic(schedule);
  shown_ = schedule;
}

void TaskSearch::ShowBest() {
  const std::optional<double> chosen = history_.SecondsOf(chosen_);
  progress.best_seconds = chosen ? chosen : history_.Best();
  const std::string best = chosen ? chosen_ : history_.BestSchedule();
  if (best != shown_) progress.arithmetic = CurrentArithmetic(best);
  shown_ = best;
}

// Returns the arithmetic of a schedule. If the schedule cannot be parsed or its lowering is
// unknown, returns the arithmetic of the default lowering as written.
std::optional<KernelArithmetic> TaskSearch::CurrentArithmetic(const std::string& schedule) const {
  const Result<Schedule> steps = ParseSchedule(schedule, "record");
  const Compute* lowering = steps ? FindLowering(task_.lowerings, steps->lowering) : nullptr;
  if (lowering == nullptr) {
    return ArithmeticOf(task_.lowerings.front().compute, {}, options_.target);
  }
  return ArithmeticOf(*lowering, *steps, options_.target);
}

int64_t TaskSearch::Patience() const {
  return std::clamp(options_.trials / kPatiencePart, kLeastPatience, kMostPatience);
}

std::optional<double> TaskSearch::PeakFlops() const {
  return progress.arithmetic ? ceilings_.PeakFlops(*progress.arithmetic) : std::nullopt;
}

// Returns the least seconds of arithmetic, with the fewest operations of all lowerings. A lowering
// that transforms its operands may have fewer operations than the key counts.
double TaskSearch::ArithmeticSeconds() const {
  const std::optional<double> peak = PeakFlops();
  if (!peak) return 0;
  double flops = key_.workload.flops;
  for (const NamedCompute& lowering : task_.lowerings) {
    if (const auto transformed = TransformedFlops(lowering.compute)) {
      flops = std::min(flops, *transformed);
    }
  }
  return flops / *peak;
}

// Returns true if the best kernel is at most a factor kNearCeiling below the firm ceiling of its
// arithmetic. The ceiling of memory does not count: small data is read from caches, faster than
// from memory. A kernel above the ceiling is not near it, since the ceiling is then too low for
// this kernel.
bool TaskSearch::IsNearCeiling() const {
  const double rate = BestFlopsPerSecond();
  const std::optional<double> peak = PeakFlops();
  if (!peak || !ceilings_.IsFirm(*progress.arithmetic->by)) return false;
  return rate <= *peak && rate * kNearCeiling >= *peak;
}

bool TaskSearch::IsTransformed(const std::string& schedule) const {
  const Result<Schedule> steps = ParseSchedule(schedule, "candidate");
  const Compute* lowering = steps ? FindLowering(task_.lowerings, steps->lowering) : nullptr;
  return lowering != nullptr && HasTransforms(*lowering);
}

std::vector<KernelArithmetic> TaskSearch::OtherArithmetics() const {
  std::vector<KernelArithmetic> others;
  for (int sketch = 0; sketch < space_->Searched(); ++sketch) {
    const auto other = CurrentArithmetic(space_->Initial(sketch).schedule);
    const bool known = std::ranges::find(others, other) != others.end();
    if (other && other != progress.arithmetic && !known) others.push_back(*other);
  }
  return others;
}

std::vector<const MacInstruction*> TaskSearch::FindRivalArithmetics() const {
  std::vector<const MacInstruction*> rivals;
  if (!IsNearCeiling()) return rivals;
  for (const KernelArithmetic& other : OtherArithmetics()) rivals.push_back(other.by);
  return rivals;
}

// Returns true if another sketch may be faster. Either the analytic schedule of a sketch with
// transformed operands is untried, or a sketch has an arithmetic with a higher ceiling. A
// transforming kernel does fewer operations than are counted, so it may exceed the ceiling. A
// ceiling that is unknown or not firm (Ceilings::IsFirm) may be higher.
bool TaskSearch::MayAnotherBeFaster() const {
  for (int sketch = 0; sketch < space_->Searched(); ++sketch) {
    const std::string initial = space_->Initial(sketch).schedule;
    if (!history_.HasSeen(initial) && IsTransformed(initial)) return true;
  }
  return std::ranges::any_of(OtherArithmetics(), [&](const KernelArithmetic& other) {
    const std::optional<double> peak = ceilings_.PeakFlops(other);
    return !peak || !ceilings_.IsFirm(*other.by) || *peak > *PeakFlops();
  });
}

std::optional<Incumbent> TaskSearch::BestKnown() const {
  if (!progress.best_seconds) return std::nullopt;
  return Incumbent{shown_, *progress.best_seconds};
}

double TaskSearch::BestFlopsPerSecond() const {
  return progress.best_seconds ? key_.workload.flops / *progress.best_seconds : 0;
}

std::optional<Convergence> TaskSearch::FindConvergence() const {
  const int64_t space = space_->Fingerprint();
  if (history_.CountStale() >= Patience()) {
    return Convergence{space, ConvergenceReason::kStale,
                       static_cast<double>(history_.CountStale())};
  }
  if (heeds_ceiling_ && IsNearCeiling() && !MayAnotherBeFaster()) {
    return Convergence{space, ConvergenceReason::kCeiling, *PeakFlops()};
  }
  return std::nullopt;
}

std::string TaskSearch::DescribeNote(const Candidate& candidate) const {
  return fmt::format("{} by={} seed={}", space_->Describe(candidate), candidate.origin,
                     options_.seed);
}

TaskState TaskSearch::State() const {
  return {.weight = weight,
          .roofline_seconds = std::max(ArithmeticSeconds(), TrafficSeconds()),
          .best_seconds = progress.best_seconds,
          .trials = progress.trials,
          .stale = history_.CountStale(),
          .saved = history_.SavedByLaterHalf(),
          .done = left_out || progress.converged || !progress.problem.empty()};
}

}  // namespace tunec
