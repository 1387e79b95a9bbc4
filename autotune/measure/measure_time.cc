#include "autotune/measure/measure_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "support/check.h"

namespace tunec {
Clock SteadyClock() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
}

int RunsPerSample(double seconds, const TimingPolicy& policy) {
  // The maximum number of runs, which also applies if the clock measured 0 seconds.
  constexpr double kMost = 10000;
  if (seconds <= 0) return static_cast<int>(kMost);
  return static_cast<int>(std::clamp(std::ceil(policy.sample_seconds / seconds), 1.0, kMost));
}

namespace {

// Returns whether a run is long and far slower than the best. The first run finds cold caches and
// predictors, so a moderate slowdown is not enough.
bool IsLost(double seconds, double best, const TimingPolicy& policy) {
  return seconds > 4 * policy.race_factor * best && seconds > 10 * policy.sample_seconds;
}

// Returns the mean seconds of one run in a sample of `runs` runs, at least 1 ns.
Result<double> SampleOf(const TimeOf& time_of, int runs) {
  TUNEC_ASSIGN(const double seconds, time_of(runs));
  return std::max(seconds / runs, 1e-9);
}

bool AllAbove(const std::vector<double>& values, double limit) {
  return std::ranges::all_of(values, [&](double value) { return value > limit; });
}

}  // namespace

bool UsualTime::IsExceeded(double sample, double factor) const {
  constexpr size_t kLeast = 3;
  constexpr double kDeviations = 4;
  if (latest_.size() < kLeast) return false;
  const double median = Median(latest_);
  return sample > std::max(factor * median, median + kDeviations * MedianDeviation(latest_));
}

void UsualTime::Add(double sample) {
  // With this number, a load that lasts becomes usual within about ten candidates.
  constexpr size_t kMost = 128;
  if (latest_.size() == kMost) latest_.erase(latest_.begin());
  latest_.push_back(sample);
}

Result<std::vector<double>> TimeRuns(const TimeOf& time_of, std::optional<double> best,
                                     const TimingPolicy& policy, const Clock& clock,
                                     std::optional<double> before) {
  if (before && *before >= policy.long_run_seconds) return std::vector{*before};
  TUNEC_ASSIGN(const double first, time_of(1));
  const double least = std::min(first, before.value_or(first));
  if (first >= policy.long_run_seconds || (best && before && IsLost(least, *best, policy)))
    return std::vector{least};
  const int runs = RunsPerSample(first, policy);
  std::vector<double> samples;
  const double start = clock();
  const int most = std::max(policy.most_samples, 1);
  while (static_cast<int>(samples.size()) < most) {
    TUNEC_ASSIGN(const double sample, SampleOf(time_of, runs));
    samples.push_back(sample);
    if (samples.size() == 2 && best && AllAbove(samples, policy.race_factor * *best)) break;
    const bool enough = static_cast<int>(samples.size()) >= policy.least_samples;
    if (enough && clock() - start >= policy.budget_seconds) break;
  }
  return samples;
}

Result<TimesInTurns> TimeInTurns(const TimeOf& time_of, ReferenceRuns& other,
                                 const TimingPolicy& policy, const Clock& clock,
                                 std::optional<double> before) {
  if (before && *before >= policy.long_run_seconds) {
    TUNEC_ASSIGN(const double beside, SampleOf(other.time_of, 1));
    return TimesInTurns{.samples = {*before}, .ratios = {*before / beside}, .turns = 1};
  }
  TUNEC_ASSIGN(const double first, time_of(1));
  const double lesser = std::min(first, before.value_or(first));
  if (before && IsLost(lesser, other.known, policy))
    return TimesInTurns{.samples = {lesser}, .ratios = {lesser / other.known}};
  TUNEC_ASSIGN(const double warm, other.time_of(1));
  const int runs = RunsPerSample(first, policy);
  const int other_runs = std::min(RunsPerSample(other.known, policy), RunsPerSample(warm, policy));
  const int most = first >= policy.long_run_seconds ? 1 : std::max(policy.most_samples, 1);
  const int enough = std::min(policy.least_samples, most);
  TimesInTurns times;
  TimesInTurns disturbed;  // the turns that do not count unless there are hardly any others
  const auto add = [](TimesInTurns& to, double own, double beside) {
    to.samples.push_back(own);
    to.ratios.push_back(own / beside);
  };
  const double start = clock();
  while (static_cast<int>(times.samples.size()) < most && times.turns < 2 * most) {
    const bool other_first = times.turns++ % 2 == 0;
    double own = 0;
    if (!other_first) {
      TUNEC_ASSIGN(own, SampleOf(time_of, runs));
    }
    TUNEC_ASSIGN(const double beside, SampleOf(other.time_of, other_runs));
    if (other_first) {
      TUNEC_ASSIGN(own, SampleOf(time_of, runs));
    }
    const bool is_disturbed = other.usual.IsExceeded(beside, policy.disturbance_factor);
    other.usual.Add(beside);
    add(is_disturbed ? disturbed : times, own, beside);
    const int taken = static_cast<int>(times.samples.size());
    const bool over = clock() - start >= policy.budget_seconds;
    if (over && (taken >= enough || times.turns >= 2 * enough)) break;
    if (taken == 2 && AllAbove(times.ratios, policy.race_factor)) break;
    if (taken >= enough && AllAbove(times.ratios, policy.slower_factor)) break;
  }
  times.disturbed = static_cast<int>(disturbed.samples.size());
  if (static_cast<int>(times.samples.size()) < std::min(enough, 2)) {
    times.samples.insert(times.samples.end(), disturbed.samples.begin(), disturbed.samples.end());
    times.ratios.insert(times.ratios.end(), disturbed.ratios.begin(), disturbed.ratios.end());
  }
  return times;
}

std::vector<double> RatiosOf(const std::vector<double>& times, const std::vector<double>& others) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(times.size(), others.size()); ++i)
    ratios.push_back(times[i] / others[i]);
  return ratios;
}

std::optional<CentreInterval> RatioInterval(const std::vector<double>& times,
                                            const std::vector<double>& others) {
  // The order of two kernels alternates, so the logarithms of their ratios are about symmetric.
  std::vector<double> logs = RatiosOf(times, others);
  for (double& ratio : logs) ratio = std::log(ratio);
  const auto interval = FindCentreInterval(logs, kDecided);
  if (!interval) return std::nullopt;
  return CentreInterval{std::exp(interval->centre), std::exp(interval->low),
                        std::exp(interval->high)};
}

size_t FindFastest(const ComparedTimes& times, size_t reference) {
  size_t fastest = reference;
  double least = 1;
  for (size_t k = 0; k < times.size(); ++k) {
    if (k == reference || times[k].size() < times[reference].size()) continue;
    const auto interval = RatioInterval(times[k], times[reference]);
    const double ratio = interval ? interval->centre : Median(RatiosOf(times[k], times[reference]));
    if (ratio < least) fastest = k;
    least = std::min(least, ratio);
  }
  return fastest;
}

namespace {

// The state of a comparison: the kernels that are still timed.
class Comparison {
 public:
  Comparison(std::span<const TimeOf> kernels, const TimingPolicy& policy)
      : kernels_(kernels), policy_(policy), times_(kernels.size()), open_(kernels.size(), true) {}

  // Runs each kernel once, to find its number of runs per sample.
  Status WarmUp() {
    for (const TimeOf& kernel : kernels_) {
      TUNEC_ASSIGN(const double first, kernel(1));
      runs_.push_back(RunsPerSample(first, policy_));
    }
    return {};
  }

  // Takes a sample of each open kernel. The first kernel and the direction change from round to
  // round. Adds the samples, unless the reference shows a disturbance and may repeat.
  Status RunRound() {
    std::vector<size_t> order;
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (open_[k]) order.push_back(k);
    }
    std::ranges::rotate(order, order.begin() + std::ssize(order) * (rounds_ % 2) / 2);
    if (rounds_ % 4 >= 2) std::ranges::reverse(order);
    ++rounds_;
    std::vector<double> round(kernels_.size());
    for (const size_t k : order) {
      TUNEC_ASSIGN(round[k], SampleOf(kernels_[k], runs_[k]));
    }
    const bool disturbed = usual_.IsExceeded(round[0], policy_.disturbance_factor);
    usual_.Add(round[0]);
    if (disturbed && 2 * Counted() >= rounds_) return {};
    for (const size_t k : order) times_[k].push_back(round[k]);
    return {};
  }

  // Returns the number of rounds whose samples count.
  int Counted() const { return static_cast<int>(times_[0].size()); }

  // Leaves out the kernels that are slower than the fastest, or faster by less than a choice is
  // worth. Returns true if the order is decided.
  bool Decide() {
    // Without this margin, two equal kernels would share the time with the reference until the end.
    constexpr double kWorthwhile = 0.99;
    const size_t fastest = FindFastest(times_);
    size_t left = 0;
    for (size_t k = 1; k < kernels_.size(); ++k) {
      if (!open_[k] || k == fastest) continue;
      const auto interval = RatioInterval(times_[k], times_[fastest]);
      if (interval && interval->low > kWorthwhile) {
        open_[k] = false;
      } else {
        ++left;
      }
    }
    if (left > 0) return false;
    if (fastest == 0) return true;
    const auto interval = RatioInterval(times_[fastest], times_[0]);
    return interval && (interval->high < 1 || interval->low > 1);
  }

  ComparedTimes Take() { return std::move(times_); }

 private:
  std::span<const TimeOf> kernels_;
  const TimingPolicy& policy_;
  ComparedTimes times_;
  std::vector<bool> open_;
  std::vector<int> runs_;
  int rounds_ = 0;
  UsualTime usual_;  // usual time of the reference
};

}  // namespace

Result<ComparedTimes> CompareInTurns(std::span<const TimeOf> kernels, const CompareLimits& limits,
                                     const TimingPolicy& policy, const Clock& clock) {
  TUNEC_CHECK(!kernels.empty(), "no kernel to compare");
  constexpr int kLeastRounds = 7;
  constexpr int kMostRounds = 112;
  Comparison comparison(kernels, policy);
  TUNEC_RETURN_IF_ERROR(comparison.WarmUp());
  const double start = clock();
  if (limits.rounds > 0) {
    while (comparison.Counted() < limits.rounds) TUNEC_RETURN_IF_ERROR(comparison.RunRound());
    return comparison.Take();
  }
  // Each look at the intervals may decide wrongly, so the number of rounds doubles between looks.
  for (int look = kLeastRounds; look <= kMostRounds; look *= 2) {
    while (comparison.Counted() < look) {
      TUNEC_RETURN_IF_ERROR(comparison.RunRound());
      if (comparison.Counted() >= kLeastRounds && clock() - start >= limits.seconds)
        return comparison.Take();
    }
    if (comparison.Decide()) break;
  }
  return comparison.Take();
}

}  // namespace tunec
