#include "autotune/measure/measure_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>

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

}  // namespace

Result<std::vector<double>> TimeRuns(const TimeOf& time_of, std::optional<double> best,
                                     const TimingPolicy& policy, const Clock& clock,
                                     std::optional<double> before) {
  const auto decided = [&](double seconds) {
    return seconds >= policy.long_run_seconds || (best && IsLost(seconds, *best, policy));
  };
  if (before && decided(*before)) return std::vector{*before};
  TUNEC_ASSIGN(const double first, time_of(1));
  if (decided(first)) return std::vector{first};
  const int runs = RunsPerSample(first, policy);
  std::vector<double> samples;
  const double start = clock();
  const int most = std::max(policy.most_samples, 1);
  while (static_cast<int>(samples.size()) < most) {
    TUNEC_ASSIGN(const double sample, SampleOf(time_of, runs));
    samples.push_back(sample);
    if (samples.size() == 1 && best && samples[0] > policy.race_factor * *best) break;
    const bool enough = static_cast<int>(samples.size()) >= policy.least_samples;
    if (enough && clock() - start >= policy.budget_seconds) break;
  }
  return samples;
}

Result<std::vector<double>> TimeInTurns(const TimeOf& time_of, const ReferenceRuns& other,
                                        const TimingPolicy& policy, const Clock& clock,
                                        std::optional<double> before) {
  if (before && IsLost(*before, other.known, policy)) return std::vector{*before};
  TUNEC_ASSIGN(const double first, time_of(1));
  if (IsLost(first, other.known, policy)) return std::vector{first};
  const int runs = RunsPerSample(first, policy);
  const int other_runs = RunsPerSample(other.known, policy);
  const int most = first >= policy.long_run_seconds ? 1 : std::max(policy.most_samples, 1);
  std::vector<double> samples;
  const double start = clock();
  while (static_cast<int>(samples.size()) < most) {
    const bool other_first = samples.size() % 2 == 0;
    double own = 0;
    if (!other_first) {
      TUNEC_ASSIGN(own, SampleOf(time_of, runs));
    }
    TUNEC_ASSIGN(const double beside, SampleOf(other.time_of, other_runs));
    if (other_first) {
      TUNEC_ASSIGN(own, SampleOf(time_of, runs));
    }
    samples.push_back(own / beside * other.known);
    if (samples.size() == 1 && samples[0] > policy.race_factor * other.known) break;
    const bool enough = static_cast<int>(samples.size()) >= policy.least_samples;
    if (enough && clock() - start >= policy.budget_seconds) break;
  }
  return samples;
}

double Median(std::vector<double> samples) {
  TUNEC_CHECK(!samples.empty(), "no samples");
  std::ranges::sort(samples);
  const size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

double MedianDeviation(const std::vector<double>& samples) {
  const double median = Median(samples);
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::abs(sample - median));
  return Median(std::move(deviations));
}

}  // namespace tunec
