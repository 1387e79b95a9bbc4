// Split sums: a long sum with too few results to give every thread a tile. The sum is split into
// shares, each of which is a separate sum with separate results. A later phase adds up these
// results. The sketch has the steps of the split, and then those of the composed sketch for the
// resulting Compute.
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

constexpr int64_t kLeastShare = 256;   // least number of terms of a share
constexpr double kLeastWork = 262144;  // least number of products for which another phase pays

struct SplitSum {
  std::string statement;
  std::string reduced;
  int64_t extent = 1;
  int rank = 0;        // number of dimensions of the result
  double results = 1;  // number of elements of the result
};

// Returns the split of the only reduction along its longest reduced iterator. Returns nothing if
// the reduction does not fit, for example because it has conditions, one operand or little work.
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

// Returns the step that makes the results of each share contiguous.
PackStep SharesOutermost(const SplitSum& sum) {
  PackStep pack{.tensor = sum.statement + ".part", .axes = {{.dimension = sum.rank}}};
  for (int d = 0; d < sum.rank; ++d) pack.axes.push_back({.dimension = d});
  return pack;
}

// Returns the sketch with the steps of the split before its own compute steps.
Sketch BehindCut(Sketch inner, const std::vector<ComputeStep>& cut, int64_t shares) {
  inner.name = "split_sum/" + std::to_string(shares);
  inner.fill = [cut, fill = std::move(inner.fill)](const std::vector<int64_t>& values) {
    Schedule schedule = fill(values);
    schedule.compute_steps.insert(schedule.compute_steps.begin(), cut.begin(), cut.end());
    return schedule;
  };
  return inner;
}

// Returns the sketch for a split into at most `shares` shares. Returns nothing if the split does
// not apply, or if the parts have no composed sketch.
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
