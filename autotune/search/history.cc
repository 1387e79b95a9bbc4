#include "autotune/search/history.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tunec {

namespace {

// Returns true if `a` is faster than `b`, or has the smaller text at equal time.
bool IsBefore(const TriedCandidate& a, const TriedCandidate& b) {
  return std::tie(a.seconds, a.schedule) < std::tie(b.seconds, b.schedule);
}

}  // namespace

void History::Add(TriedCandidate tried) {
  if (!seen_.insert(tried.schedule).second) return;
  constexpr double kProgress = 0.99;
  const std::optional<double> best = Best();
  const bool progress =
      tried.status == TrialStatus::kOk && (!best || tried.seconds < kProgress * *best);
  stale_ = progress ? 0 : stale_ + 1;
  tried_.push_back(std::move(tried));
  CompareWithBest(tried_.size() - 1);
}

void History::CompareWithBest(size_t index) {
  if (tried_[index].status != TrialStatus::kOk) return;
  if (!best_ || IsBefore(tried_[index], tried_[*best_])) best_ = index;
}

std::optional<double> History::SecondsOf(const std::string& schedule) const {
  for (const TriedCandidate& tried : tried_) {
    if (tried.schedule == schedule && tried.status == TrialStatus::kOk) return tried.seconds;
  }
  return std::nullopt;
}

std::optional<double> History::Best() const {
  return best_ ? std::optional(tried_[*best_].seconds) : std::nullopt;
}

std::string History::BestSchedule() const { return best_ ? tried_[*best_].schedule : ""; }

std::vector<TriedCandidate> History::Ranked() const {
  std::vector<TriedCandidate> ranked;
  for (const TriedCandidate& tried : tried_) {
    if (tried.status == TrialStatus::kOk && tried.candidate) ranked.push_back(tried);
  }
  std::ranges::sort(ranked, IsBefore);
  return ranked;
}

bool History::IsHopeless(int sketch) const {
  constexpr double kFactor = 4;
  std::optional<double> own;
  for (const TriedCandidate& tried : tried_) {
    if (!tried.candidate || tried.candidate->sketch != sketch) continue;
    if (tried.status == TrialStatus::kOk)
      own = std::min(own.value_or(tried.seconds), tried.seconds);
  }
  return own && *own > kFactor * *Best();  // an `own` time implies a best one
}

std::optional<double> History::SavedByLaterHalf() const {
  constexpr size_t kLeast = 8;
  if (tried_.size() < kLeast) return std::nullopt;
  std::optional<double> earlier;
  for (size_t i = 0; i < tried_.size() / 2; ++i) {
    if (tried_[i].status != TrialStatus::kOk) continue;
    earlier = std::min(earlier.value_or(tried_[i].seconds), tried_[i].seconds);
  }
  return earlier ? std::optional(*earlier - *Best()) : std::nullopt;
}

void History::SetSeconds(const std::string& schedule, double seconds) {
  best_.reset();
  for (size_t i = 0; i < tried_.size(); ++i) {
    if (tried_[i].schedule == schedule) tried_[i].low = tried_[i].seconds = seconds;
    CompareWithBest(i);
  }
}

}  // namespace tunec
