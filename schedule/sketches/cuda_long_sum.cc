// Long reductions of few results on a device. One thread for each result would leave most of the
// device idle. Its chain of all terms would have a large rounding error, which grows with the
// length.
//
//   grid.x, block.x: result, lane     acc.part[result, lane] = reduction of every LANES-th term
//   grid.x, block.x: result           acc = reduction over the lanes, followers
//
// Consecutive threads read consecutive terms. The number of lanes is about the square root of the
// number of terms, if the iterator that is split is long enough. Then neither chain is long.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/sub_compute.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

constexpr int64_t kLeastContiguous = 64;  // least number of contiguous terms for IteratorToCut
constexpr int64_t kMostTerms = int64_t{1} << 60;
constexpr int64_t kMostLanes = int64_t{1} << 16;
constexpr int kTermsInFlight = 16;  // loads in flight of a thread that reduces over lanes

int64_t CountTerms(const Statement& reduction) {
  int64_t terms = 1;
  for (const VarId reduced : ReducedIterators(reduction)) {
    const int64_t extent = reduction.iterators[reduced].extent;
    if (extent != 0 && terms > kMostTerms / extent) return kMostTerms;
    terms *= extent;
  }
  return terms;
}

// Returns the reduced iterator to split: a long iterator along which an operand is contiguous, else
// the longest.
VarId IteratorToCut(const Compute& compute, const Statement& reduction) {
  const std::vector<VarId> reduced = ReducedIterators(reduction);
  const auto extent = [&](VarId v) { return reduction.iterators[v].extent; };
  for (const Read& read : reduction.reads) {
    const auto along = ContiguousIterator(compute, reduction, read.tensor, read.index);
    const bool is_reduced = along && std::ranges::find(reduced, *along) != reduced.end();
    if (is_reduced && extent(*along) >= kLeastContiguous) return *along;
  }
  return *std::ranges::max_element(reduced, {}, extent);
}

int64_t CountLanes(int64_t terms, int64_t extent) {
  const auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(terms)));
  const int64_t lanes = std::min(kMostLanes, static_cast<int64_t>(std::bit_ceil(root)));
  return std::min(lanes, extent);
}

// Returns the phase for the reduction over the lanes and the followers. If there is only one
// result, the phase may have no steps, so one thread computes it.
std::optional<DevicePhase> AddingPhase(const Compute& rest, const PhaseQuestion& question) {
  const PhaseQuestion of_rest{
      .compute = rest, .device = question.device, .rounding = question.rounding};
  for (const auto make : {MakeCudaElementsPhase, MakeBlockPhase})
    if (std::optional<DevicePhase> phase = make(of_rest)) return phase;
  if (!WrittenIterators(rest.statements.front()).empty()) return std::nullopt;
  return DevicePhase{
      .kind = "", .knobs = {}, .write = [](const std::vector<int64_t>&, Schedule&) {}};
}

}  // namespace

bool HasLongChain(const Statement& statement) {
  return statement.reducer && statement.reducer->reorderable && statement.writes.size() == 1 &&
         statement.reducer->finalise.empty() && CountTerms(statement) > kLongestChain;
}

std::optional<DevicePhase> MakeCudaLongSumPhase(const PhaseQuestion& question) {
  const Compute& compute = question.compute;
  const Statement& reduction = compute.statements.front();
  if (!HasLongChain(reduction)) return std::nullopt;
  const VarId cut = IteratorToCut(compute, reduction);
  const Iterator& iterator = reduction.iterators[cut];
  const int64_t lanes = CountLanes(CountTerms(reduction), iterator.extent);
  if (lanes < 2) return std::nullopt;
  const ReduceSplitStep split{reduction.name, iterator.name, lanes,
                              ReduceSplitStep::Parallel::kInner};
  const Result<Compute> whole = Apply(compute, split);
  if (!whole) return std::nullopt;
  const StatementId adding(1);
  const Compute partial = StatementsOf(*whole, StatementId(0), adding);
  const Compute rest = StatementsOf(*whole, adding, StatementId(whole->statements.size()));
  std::optional<DevicePhase> making = MakeBlockPhase(
      {.compute = partial, .device = question.device, .rounding = question.rounding});
  std::optional<DevicePhase> combining = AddingPhase(rest, question);
  if (!making || !combining) return std::nullopt;
  std::vector<Knob> knobs = making->knobs;
  const auto write = [split, making = *std::move(making), combining = *std::move(combining),
                      loop = reduction.name + "." + iterator.name + "p"](
                         const std::vector<int64_t>& values, Schedule& schedule) {
    schedule.Add(split);
    making.write(values, schedule);
    combining.WriteInitial(schedule);
    schedule.Add(UnrollStep{loop, kTermsInFlight});
  };
  return DevicePhase{"cuda_long_sum", std::move(knobs), write};
}

}  // namespace tunec
