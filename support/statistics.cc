#include "support/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/check.h"

namespace tunec {

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

// The number of samples below the true median has a binomial distribution with probability 1/2. So
// the median is below the sample of rank k, or above its counterpart, with twice the probability
// that at most k samples are below the median.
std::optional<MedianInterval> FindMedianInterval(std::vector<double> samples, double confidence) {
  const size_t count = samples.size();
  if (count == 0) return std::nullopt;
  double term = std::pow(0.5, static_cast<double>(count));  // probability of exactly `rank` below
  double below = term;
  size_t rank = 0;
  if (2 * below > 1 - confidence) return std::nullopt;
  for (;; ++rank) {
    term *= static_cast<double>(count - rank) / static_cast<double>(rank + 1);
    if (2 * (below + term) > 1 - confidence) break;
    below += term;
  }
  std::ranges::sort(samples);
  return MedianInterval{samples[rank], samples[count - 1 - rank]};
}

}  // namespace tunec
