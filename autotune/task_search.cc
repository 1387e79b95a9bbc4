#include "autotune/task_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "autotune/strategy.h"
#include "support/random.h"

namespace tunec {
namespace {

constexpr int kStaleLimit = 64;
constexpr size_t kTransfers = 2;

// Without a measured ceiling: two fused multiply-adds a cycle at 3 GHz. It only weighs tasks
// against each other.
double PeakFlops(const TunerOptions& options) {
  if (options.peak_flops > 0) return options.peak_flops;
  return 3e9 * 4 * options.target.Lanes(4) * options.target.threads;
}

// Likewise: what a core's share of the caches gives.
double BytesPerSecond(const TunerOptions& options) {
  return options.bytes_per_second > 0 ? options.bytes_per_second : 20e9 * options.target.threads;
}

double Distance(const WorkloadKey& a, const WorkloadKey& b) {
  const auto ratio = [](double x, double y) { return std::abs(std::log2((x + 1) / (y + 1))); };
  return ratio(a.flops, b.flops) + ratio(a.bytes, b.bytes);
}

}  // namespace

TaskSearch::TaskSearch(TuningTask task, const TunerOptions& options)
    : weight(task.weight), task_(std::move(task)), options_(options) {
  key_ = MakeTuningKey(task_, options.target, options.accuracy);
  arithmetic_seconds_ = key_.workload.flops / PeakFlops(options);
  traffic_seconds_ = key_.workload.bytes / BytesPerSecond(options);
  progress.description = task_.description;
  progress.flops = key_.workload.flops;
  progress.bytes = key_.workload.bytes;
}

Status TaskSearch::Load(const Database& database, const SketchSource& sketches) {
  TUNEC_ASSIGN(records_, database.Trials(key_));
  TUNEC_ASSIGN(progress.trials, database.CountTrials(key_));
  for (const TrialRecord& record : records_) {
    history_.Add({std::nullopt, record.schedule, record.status, record.median_seconds});
  }
  progress.best_seconds = history_.Best();
  TUNEC_ASSIGN(const int64_t converged, database.ConvergedSpace(key_));
  if (converged == 0) return {};
  EnsureSpace(sketches);
  progress.converged = converged == space_->Fingerprint();
  if (!progress.converged) history_.ForgetStaleness();
  return {};
}

Status TaskSearch::RecordConverged(Database& database) {
  progress.converged = true;
  return database.SetConverged(key_, space_->Fingerprint());
}

Workload TaskSearch::MakeWorkload() const {
  return {task_.lowerings, options_.target, options_.accuracy, options_.seed};
}

void TaskSearch::EnsureSpace(const SketchSource& sketches) {
  if (space_) return;
  space_.emplace(sketches(task_));
  history_ = {};
  for (const TrialRecord& record : std::exchange(records_, {})) {
    history_.Add({space_->Recall(record.note, record.schedule), record.schedule, record.status,
                  record.median_seconds});
  }
}

bool TaskSearch::Offer(std::vector<Candidate>& chosen, Candidate candidate) const {
  if (history_.Seen(candidate.schedule)) return false;
  const auto same = [&](const Candidate& other) { return other.schedule == candidate.schedule; };
  if (std::ranges::any_of(chosen, same)) return false;
  chosen.push_back(std::move(candidate));
  return true;
}

// Until something is correct, one analytic schedule at a time: the next is only needed if this
// one fails. Afterwards the other sketches' analytic schedules join the first batch.
void TaskSearch::OfferAnalytic(std::vector<Candidate>& chosen, int count) {
  const bool any = history_.AnyOk();
  const int sketches = any ? space_->Searched() : space_->Naive() + 1;
  const int most = any ? count : 1;
  for (int s = 0; s < sketches && static_cast<int>(chosen.size()) < most; ++s) {
    Offer(chosen, space_->Initial(s));
  }
}

Status TaskSearch::OfferTransfers(std::vector<Candidate>& chosen, int count,
                                  const Database& database) {
  if (std::exchange(transferred_, true)) return {};
  TUNEC_ASSIGN(std::vector<TunedWorkload> near,
               database.NearestWorkloads(key_.workload.kind, key_.target, kScheduleVersion));
  std::erase_if(near, [&](const TunedWorkload& other) {
    return other.key.workload.text == key_.workload.text || other.key.policy != key_.policy;
  });
  std::ranges::sort(near, [&](const TunedWorkload& a, const TunedWorkload& b) {
    const auto order = [&](const TunedWorkload& w) {
      return std::make_tuple(Distance(w.key.workload, key_.workload), w.key.workload.text);
    };
    return order(a) < order(b);
  });
  size_t taken = 0;
  for (const TunedWorkload& other : near) {
    if (taken == kTransfers || static_cast<int>(chosen.size()) >= count) break;
    std::optional<Candidate> candidate = space_->Transfer(other.best.note);
    if (candidate && Offer(chosen, std::move(*candidate))) ++taken;
  }
  return {};
}

void TaskSearch::OfferSearched(std::vector<Candidate>& chosen, int count, double spent) {
  // Another stream for each state of the history, so that a search taken up again goes on.
  Random random(StreamSeed(options_.seed + history_.size(), key_.workload.text));
  const auto evolve = MakeEvolutionaryStrategy();
  const auto descend = MakeCoordinateDescent();
  const auto anywhere = MakeRandomStrategy();
  const bool late = spent >= kDescendFrom;
  for (const Strategy* strategy :
       {late ? descend.get() : evolve.get(), late ? evolve.get() : descend.get(), anywhere.get()}) {
    // A few more than missing: some may be chosen already.
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
  std::vector<Candidate> chosen;
  OfferAnalytic(chosen, count);
  if (!history_.AnyOk()) return chosen;
  TUNEC_RETURN_IF_ERROR(OfferTransfers(chosen, count, database));
  OfferSearched(chosen, count, spent);
  return chosen;
}

void TaskSearch::Add(const Candidate& candidate, const TrialRecord& record) {
  history_.Add({candidate, record.schedule, record.status, record.median_seconds});
  progress.best_seconds = history_.Best();
}

void TaskSearch::Retimed(const std::string& schedule, double seconds) {
  history_.SetSeconds(schedule, seconds);
  progress.best_seconds = history_.Best();
}

bool TaskSearch::Saturated() const {
  if (history_.Stale() >= kStaleLimit) return true;
  // Only a measured ceiling can end a search, and only one of arithmetic: small data is read
  // from caches, faster than from memory.
  constexpr double kNear = 1.03;
  return options_.peak_flops > 0 && progress.best_seconds &&
         *progress.best_seconds <= kNear * arithmetic_seconds_;
}

std::string TaskSearch::NoteOf(const Candidate& candidate) const {
  return fmt::format("{} by={} seed={}", space_->Describe(candidate), candidate.origin,
                     options_.seed);
}

TaskState TaskSearch::State() const {
  return {.weight = weight,
          .roofline_seconds = std::max(arithmetic_seconds_, traffic_seconds_),
          .best_seconds = progress.best_seconds,
          .trials = progress.trials,
          .stale = history_.Stale(),
          .done = progress.converged || !progress.problem.empty()};
}

}  // namespace tunec
