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

namespace {

// Returns the greatest rank sum s for which a random rank sum is at most s with a probability of at
// most `tail`; -1 if there is none. A rank sum is the sum of the ranks of the samples above the
// centre. Each of the 2^count subsets of the ranks 1 to count has the same probability.
int64_t LowerRankSum(size_t count, double tail) {
  std::vector<double> probability(count * (count + 1) / 2 + 1, 0.0);  // by rank sum
  probability[0] = 1;
  size_t most = 0;
  for (size_t rank = 1; rank <= count; ++rank) {
    most += rank;
    for (size_t sum = most + 1; sum-- > 0;) {
      const double with = sum >= rank ? probability[sum - rank] : 0;
      probability[sum] = (probability[sum] + with) / 2;
    }
  }
  double below = 0;
  for (size_t sum = 0; sum < probability.size(); ++sum) {
    below += probability[sum];
    if (below > tail) return static_cast<int64_t>(sum) - 1;
  }
  return static_cast<int64_t>(probability.size()) - 1;
}

}  // namespace

std::optional<CentreInterval> FindCentreInterval(const std::vector<double>& samples,
                                                 double confidence) {
  const int64_t rank = LowerRankSum(samples.size(), (1 - confidence) / 2);
  if (samples.empty() || rank < 0) return std::nullopt;
  std::vector<double> means;  // means of each two samples, and of each sample with itself
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = i; j < samples.size(); ++j) means.push_back((samples[i] + samples[j]) / 2);
  }
  std::ranges::sort(means);
  const auto at = static_cast<size_t>(rank);
  return CentreInterval{Median(means), means[at], means[means.size() - 1 - at]};
}

}  // namespace tunec
