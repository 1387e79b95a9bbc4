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
  // Also an end for a clock that stands still.
  constexpr double kMost = 10000;
  if (seconds <= 0) return static_cast<int>(kMost);
  return static_cast<int>(std::clamp(std::ceil(policy.sample_seconds / seconds), 1.0, kMost));
}

Result<std::vector<double>> TimeRuns(const TimeOf& time_of, std::optional<double> best,
                                     const TimingPolicy& policy, const Clock& clock,
                                     std::optional<double> before) {
  // The first run found cold caches and predictors; only a hopeless one is judged by it.
  const auto decided = [&](double seconds) {
    const bool lost = best && seconds > 4 * policy.race_factor * *best;
    return seconds >= policy.long_run_seconds || (lost && seconds > 10 * policy.sample_seconds);
  };
  if (before && decided(*before)) return std::vector{*before};
  TUNEC_ASSIGN(const double first, time_of(1));
  if (decided(first)) return std::vector{first};
  const int runs = RunsPerSample(first, policy);
  std::vector<double> samples;
  const double start = clock();
  const int most = std::max(policy.most_samples, 1);
  while (static_cast<int>(samples.size()) < most) {
    TUNEC_ASSIGN(const double seconds, time_of(runs));
    samples.push_back(std::max(seconds / runs, 1e-9));
    if (samples.size() == 1 && best && samples[0] > policy.race_factor * *best) break;
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
