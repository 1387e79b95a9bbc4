#include "compiler/sized/choose_samples.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tunec {
namespace {

constexpr int64_t kMostLookedAt = 2048;  // greatest distance from the least size of a dimension
constexpr size_t kMostSamples = 40;

int64_t MostOf(int64_t size) { return std::max<int64_t>(1, size - 1); }

/// The number of a formula, the number of a division in the formula, and the remainder.
using Remainder = std::tuple<size_t, size_t, int64_t>;

std::set<Remainder> RemaindersAt(const std::vector<SizeExpression>& formulas, const Sizes& sizes) {
  std::set<Remainder> all;
  for (size_t f = 0; f < formulas.size(); ++f) {
    const std::vector<int64_t> left = formulas[f].RemaindersAt(sizes);
    for (size_t i = 0; i < left.size(); ++i) all.emplace(f, i, left[i]);
  }
  return all;
}

/// Returns the size of a dimension with the most remainders that are not in `seen`; 0 if no size
/// has any. `left[i]` has the remainders of size `first + i`.
int64_t BestOf(const std::vector<std::set<Remainder>>& left, int64_t first,
               const std::set<Remainder>& seen) {
  size_t best_count = 0;
  int64_t best = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto is_new = [&](const Remainder& each) { return !seen.contains(each); };
    const auto count = static_cast<size_t>(std::ranges::count_if(left[i], is_new));
    if (count <= best_count) continue;
    best_count = count;
    best = first + static_cast<int64_t>(i);
  }
  return best;
}

}  // namespace

std::vector<Sizes> SamplesOf(const ServedSizes& served) {
  const auto& [sizes, open] = served.key;
  Sizes low = sizes, high = sizes, middle = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!open[d]) continue;
    low[d] = served.least[d];
    high[d] = MostOf(sizes[d]);
    middle[d] = (low[d] + high[d]) / 2;
  }
  std::vector<Sizes> samples = {low, high, middle};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!open[d]) continue;
    samples.push_back(low);
    samples.back()[d] = high[d];
  }
  std::ranges::sort(samples);
  samples.erase(std::ranges::unique(samples).begin(), samples.end());
  return samples;
}

std::vector<Sizes> SizesFarFrom(const Sizes& sizes, const std::vector<ListedSizes>& listed) {
  constexpr int64_t kFar = 4;
  std::vector<Sizes> far(4, sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    far[0][d] = 1;
    far[1][d] = 2;
    far[2][d] = std::max<int64_t>(1, sizes[d] / kFar);
    far[3][d] = listed[d].sizes.empty() ? sizes[d] * kFar : listed[d].sizes.back();
  }
  return far;
}

std::vector<Sizes> SamplesOfRemainders(const ServedSizes& served, const std::vector<Sizes>& samples,
                                       const std::vector<SizeExpression>& formulas) {
  const auto& [sizes, open] = served.key;
  Sizes low = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (open[d]) low[d] = served.least[d];
  }
  std::set<Remainder> seen;
  for (const Sizes& sample : samples) seen.merge(RemaindersAt(formulas, sample));
  std::vector<std::vector<std::set<Remainder>>> left(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t last = std::min(MostOf(sizes[d]), low[d] + kMostLookedAt);
    Sizes at = low;
    for (at[d] = low[d]; open[d] && at[d] <= last; ++at[d])
      left[d].push_back(RemaindersAt(formulas, at));
  }
  std::vector<Sizes> further;
  while (samples.size() + further.size() < kMostSamples) {
    Sizes next = low, single;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int64_t best = BestOf(left[d], low[d], seen);
      if (best == 0) continue;
      next[d] = best;
      if (single.empty()) (single = low)[d] = best;
    }
    if (single.empty()) break;
    const size_t before = seen.size();
    seen.merge(RemaindersAt(formulas, next));
    // In a formula of a sum, the changes of two sizes may cancel out. Then only one dimension
    // differs from the least sizes.
    const bool is_new = seen.size() > before;
    if (!is_new) seen.merge(RemaindersAt(formulas, single));
    further.push_back(is_new ? std::move(next) : std::move(single));
  }
  return further;
}

}  // namespace tunec
