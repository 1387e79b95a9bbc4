// Split sums: a long sum of few results, fewer than give every thread a tile. The sum is cut into
// shares, each of which is a sum of its own with results of its own, and a phase after them adds
// these up. What the parts are made of is what fits them: the sketch is the one of the Compute that
// the cut leaves, with the cut before it.
//
//   parallel: shares, tiles
//     part[share, tile] = sum over the share
//   result = sum of part
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/sketches/sketches.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

constexpr int64_t kLeastShare = 256;   // steps
constexpr double kLeastWork = 262144;  // of the whole sum: a phase more has to pay

struct SplitSum {
  std::string statement;
  std::string reduced;
  int64_t extent = 1;
  int rank = 0;        // of the result
  double results = 1;  // its elements
};

// The one reduction, a product, along its longest iterator.
std::optional<SplitSum> SplitSumOf(const Compute& compute) {
  const std::optional<StatementId> found = OnlyReduction(compute);
  if (!found) return std::nullopt;
  const Statement& reduction = compute.statements[*found];
  if (reduction.reads.size() < 2 || !reduction.domain.empty()) return std::nullopt;
  if (!reduction.reducer->reorderable || reduction.writes.size() != 1 ||
      !reduction.reducer->finalise.empty()) {
    return std::nullopt;
  }
  const std::vector<VarId> reduced = ReducedIterators(reduction);
  if (reduced.empty() || WrittenIterators(reduction).empty()) return std::nullopt;
  if (ProductOfExtents(reduction) < kLeastWork) return std::nullopt;
  double results = 1;
  for (const VarId iterator : WrittenIterators(reduction)) {
    results *= static_cast<double>(reduction.iterators[iterator].extent);
  }
  const VarId longest = *std::ranges::max_element(
      reduced, {}, [&](VarId iterator) { return reduction.iterators[iterator].extent; });
  return SplitSum{.statement = reduction.name,
                  .reduced = reduction.iterators[longest].name,
                  .extent = reduction.iterators[longest].extent,
                  .rank = static_cast<int>(reduction.writes[0].index.size()),
                  .results = results};
}

// A share's results lie together.
PackStep SharesOutermost(const SplitSum& sum) {
  PackStep pack{.tensor = sum.statement + ".part", .axes = {{.dimension = sum.rank}}};
  for (int d = 0; d < sum.rank; ++d) pack.axes.push_back({.dimension = d});
  return pack;
}

// The sketch of what the cut leaves, behind the cut.
Sketch BehindCut(Sketch inner, const std::vector<ComputeStep>& cut, int64_t shares) {
  inner.name = "split_sum/" + std::to_string(shares);
  inner.fill = [cut, fill = std::move(inner.fill)](const std::vector<int64_t>& values) {
    Schedule schedule = fill(values);
    schedule.compute_steps.insert(schedule.compute_steps.begin(), cut.begin(), cut.end());
    return schedule;
  };
  return inner;
}

// None where the cut is rejected, or the parts have no pattern.
std::optional<Sketch> SketchOf(const NamedCompute& lowering, const SplitSum& sum, int64_t shares,
                               const SketchQuestion& question) {
  const ReduceSplitStep split{sum.statement, sum.reduced, CeilDivide(sum.extent, shares),
                              ReduceSplitStep::Parallel::kOuter};
  const PackStep pack = SharesOutermost(sum);
  const Result<Compute> parts = Apply(lowering.compute, split);
  if (!parts) return std::nullopt;
  Result<Compute> stored = Apply(*parts, pack);
  if (!stored) return std::nullopt;
  std::vector<Sketch> inner;
  AddComposedSketches({lowering.name, *std::move(stored)}, question, inner);
  if (inner.empty()) return std::nullopt;
  return BehindCut(std::move(inner.front()), {split, pack}, shares);
}

}  // namespace

void AddSplitSumSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches) {
  const Target& target = question.target;
  const std::optional<SplitSum> sum = SplitSumOf(lowering.compute);
  if (!sum) return;
  const auto tile = static_cast<double>(8 * target.host.Lanes(4));
  const auto threads = static_cast<double>(target.host.threads);
  if (sum->results >= tile * threads) return;
  auto place = sketches.begin();
  for (const int64_t times : {4, 1}) {
    const int64_t shares = times * target.host.threads;
    if (sum->extent < shares * kLeastShare) continue;
    std::optional<Sketch> sketch = SketchOf(lowering, *sum, shares, question);
    if (sketch) place = sketches.insert(place, std::move(*sketch)) + 1;
  }
}

}  // namespace tunec
