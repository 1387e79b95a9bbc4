#include "autotune/history.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tunec {

void History::Add(Tried tried) {
  if (!seen_.insert(tried.schedule).second) return;
  ++stale_;
  if (tried.status == TrialStatus::kOk && (!best_ || tried.seconds < *best_)) {
    constexpr double kProgress = 0.99;
    if (!best_ || tried.seconds < kProgress * *best_) stale_ = 0;
    best_ = tried.seconds;
  }
  tried_.push_back(std::move(tried));
}

std::vector<Tried> History::Ranked() const {
  std::vector<Tried> ranked;
  for (const Tried& tried : tried_) {
    if (tried.status == TrialStatus::kOk && tried.candidate) ranked.push_back(tried);
  }
  std::ranges::sort(ranked, [](const Tried& a, const Tried& b) {
    return std::tie(a.seconds, a.schedule) < std::tie(b.seconds, b.schedule);
  });
  return ranked;
}

std::string History::BestSchedule() const {
  const Tried* best = nullptr;
  for (const Tried& tried : tried_) {
    if (tried.status != TrialStatus::kOk) continue;
    if (best == nullptr ||
        std::tie(tried.seconds, tried.schedule) < std::tie(best->seconds, best->schedule)) {
      best = &tried;
    }
  }
  return best == nullptr ? "" : best->schedule;
}

bool History::IsHopeless(int sketch) const {
  constexpr double kFactor = 4;
  std::optional<double> own;
  for (const Tried& tried : tried_) {
    if (!tried.candidate || tried.candidate->sketch != sketch) continue;
    if (tried.status == TrialStatus::kOk)
      own = std::min(own.value_or(tried.seconds), tried.seconds);
  }
  return own && best_ && *own > kFactor * *best_;
}

void History::SetSeconds(const std::string& schedule, double seconds) {
  best_.reset();
  for (Tried& tried : tried_) {
    if (tried.schedule == schedule) tried.seconds = seconds;
    if (tried.status == TrialStatus::kOk)
      best_ = std::min(best_.value_or(tried.seconds), tried.seconds);
  }
}

}  // namespace tunec
