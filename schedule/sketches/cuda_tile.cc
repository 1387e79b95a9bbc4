// Tiles of sums of products, for a device: products of matrices, one or a batch, and convolutions,
// with what follows them element by element.
//
// A block computes a tile of the output, each of its threads some rows by some columns of it, in
// registers. The reduction runs in pieces. All threads copy what a piece of the tile needs of an
// operand to storage that they share, before all of them use it; two pieces take turns, so that one
// is copied while the other is used. A convolution's windows are copied with their edges, or read
// where they lie, as other operands of which a tile needs no box; neighbours among the threads read
// neighbours.
//
//   grid: other outputs, row tiles, column tiles
//     registers: sums[rows][columns] = 0
//       pieces of the reduction, two shared copies in turns
//         threads: copy the next piece of A and of B
//         threads: a piece's iterations, unrolled
//           rows unrolled, columns vector: sums += a * b
//       threads: rows unrolled, columns vector: out = f(sums)
//
// Where the blocks are too few, each makes sums over a part of the reduction (cuda_split.h).
//
// Where a thread has several elements of a dimension, tiles divide it. Of a dimension without
// divisors, or with conditions (a convolution's border), a thread has one element, and at its end
// some threads have no work. Or the sum is padded: all tiles are full, threads have as many
// elements as elsewhere, and the copies of operands hold zeros beyond their ends. What is estimated
// to be faster is the first choice, the other one a knob's.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "schedule/sketches/cuda_split.h"
#include "schedule/sketches/cuda_tile_plan.h"
#include "schedule/sketches/cuda_tile_writer.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/knobs.h"

namespace tunec {
namespace {

Knobs<CudaTileChoice> KnobsOf(const CudaTilePlan& plan, const CudaTileChoice& best) {
  Knobs<CudaTileChoice> knobs(best);
  knobs.AddAround("column_threads", {4, 8, 16, 32, 64}, &CudaTileChoice::column_threads);
  knobs.AddAround("column_elements", {1, 2, 4}, &CudaTileChoice::column_elements);
  if (plan.outer_column)
    knobs.AddAround("outer_columns", {1, 2, 4, 8}, &CudaTileChoice::outer_columns);
  knobs.AddAround("row_threads", {1, 2, 4, 8, 16, 32}, &CudaTileChoice::row_threads);
  knobs.AddAround("row_elements", {1, 2, 4, 8, 16}, &CudaTileChoice::row_elements);
  if (plan.outer_row) knobs.AddAround("outer_rows", {1, 2, 4, 8}, &CudaTileChoice::outer_rows);
  knobs.AddAround("piece", {4, 8, 16, 32}, &CudaTileChoice::piece);
  knobs.AddAround("stages", {1, 2}, &CudaTileChoice::stages);
  knobs.AddAround("band", {1, 2, 4, 8}, &CudaTileChoice::band);
  const auto has_windows = [](const CudaTileOperand& operand) { return !operand.windows.empty(); };
  if (std::ranges::any_of(plan.operands, has_windows))
    knobs.Add(KnobAt("windows", {0, 1}, best.windows ? 1 : 0), &CudaTileChoice::windows);
  return knobs;
}

// The sums in some number of parts.
struct Tiling {
  CudaTilePlan plan;  // of what makes sums, partial ones where there are parts
  CudaTileChoice best;
  double seconds = 0;
  std::optional<SumParts> parts = {};
};

Tiling BestTiling(CudaTilePlan plan, const Accelerator& device) {
  const CudaTileChoice best = BestCudaTile(plan, device);
  const double seconds = EstimateSeconds(plan, best, device);
  return {std::move(plan), best, seconds};
}

std::optional<CudaTilePlan> MakePlanLike(const CudaTilePlan& other, const Compute& compute,
                                         const RoundingFreedom& rounding) {
  return other.padded ? MakePaddedCudaTilePlan(compute, rounding.order) : MakeCudaTilePlan(compute);
}

std::optional<Tiling> TilingInParts(const PhaseQuestion& question, const CudaTilePlan& whole,
                                    int64_t length) {
  std::optional<SumParts> parts =
      SplitSum(question, whole.piecewise, whole.column.iterator, length);
  if (!parts) return std::nullopt;
  std::optional<CudaTilePlan> plan = MakePlanLike(whole, parts->partial, question.rounding);
  if (!plan) return std::nullopt;
  Tiling tiling = BestTiling(*std::move(plan), question.device);
  tiling.best.parts = parts->count;
  tiling.seconds += parts->seconds;
  tiling.parts = std::move(parts);
  return tiling;
}

// How long the parts of sums may be, the longest first. What is padded need not be divided.
std::vector<int64_t> LengthsOf(const CudaTilePlan& plan) {
  constexpr int64_t kLeastLength = 16;  // of a part
  const int64_t whole = plan.Extent(plan.piecewise);
  if (plan.padded) return PartLengths(whole, kLeastLength, kLeastLength);
  std::vector<int64_t> lengths;
  for (const int64_t count : PartCounts(whole, kLeastLength)) lengths.push_back(whole / count);
  return lengths;
}

// The whole sums first, then those in parts, until all processors have blocks enough.
std::vector<Tiling> TilingsOf(const PhaseQuestion& question, CudaTilePlan plan) {
  const int64_t enough = int64_t{2} * question.device.processors;
  const std::vector<int64_t> lengths = LengthsOf(plan);
  std::vector<Tiling> tilings = {BestTiling(std::move(plan), question.device)};
  for (const int64_t length : lengths) {
    if (BlocksOf(tilings.back().plan, tilings.back().best) >= enough) break;
    std::optional<Tiling> next = TilingInParts(question, tilings.front().plan, length);
    if (!next) break;
    tilings.push_back(*std::move(next));
  }
  for (Tiling& tiling : tilings) tiling.best.pad = tiling.plan.padded;
  return tilings;
}

// The fastest of all, which is padded only where that is clearly faster: what else conditions and
// zeros cost is not estimated.
const Tiling& BestOf(const std::vector<Tiling>& tilings) {
  constexpr double kClearly = 0.95;
  const auto weighed = [](const Tiling& tiling) {
    return tiling.plan.padded ? tiling.seconds / kClearly : tiling.seconds;
  };
  return *std::ranges::min_element(tilings, {}, weighed);
}

// Those by the tiles that divide, and those by padded tiles where the best of them are.
std::vector<Tiling> AllTilings(const PhaseQuestion& question) {
  std::vector<Tiling> all;
  if (auto plan = MakeCudaTilePlan(question.compute)) all = TilingsOf(question, *std::move(plan));
  auto plan = MakePaddedCudaTilePlan(question.compute, question.rounding.order);
  if (!plan) return all;
  std::vector<Tiling> padded = TilingsOf(question, *std::move(plan));
  const Tiling& best = BestOf(padded);
  if (PaddingOf(best.plan, best.best)) std::ranges::move(padded, std::back_inserter(all));
  return all;
}

// What the choice names; its parts are those of either kind, of which the nearest number is taken.
const Tiling& Chosen(const std::vector<Tiling>& tilings, const CudaTileChoice& choice) {
  const auto distance = [&](const Tiling& tiling) {
    return std::pair(tiling.best.pad != choice.pad, std::abs(tiling.best.parts - choice.parts));
  };
  return *std::ranges::min_element(tilings, {}, distance);
}

void AddKnobsOf(const std::vector<Tiling>& tilings, const CudaTileChoice& best,
                Knobs<CudaTileChoice>& knobs) {
  std::set<int64_t> parts;
  std::set<int64_t> pads;
  for (const Tiling& tiling : tilings) {
    parts.insert(tiling.best.parts);
    pads.insert(tiling.best.pad ? 1 : 0);
  }
  if (parts.size() > 1)
    knobs.Add(KnobAt("parts", {parts.begin(), parts.end()}, best.parts), &CudaTileChoice::parts);
  if (pads.size() > 1) knobs.Add(KnobAt("pad", {0, 1}, best.pad ? 1 : 0), &CudaTileChoice::pad);
}

void WriteTiling(const Tiling& tiling, const CudaTileChoice& choice, const Accelerator& device,
                 Schedule& schedule) {
  if (tiling.parts)
    for (const ComputeStep& step : tiling.parts->steps) schedule.Add(step);
  WriteCudaTile(tiling.plan, Fitted(tiling.plan, choice, device), schedule);
  if (!tiling.parts) return;
  tiling.parts->adding.WriteInitial(schedule);
  schedule.Add(UnrollStep{tiling.parts->loop});  // their loads are on their way together
}

}  // namespace

std::optional<DevicePhase> MakeCudaTilePhase(const PhaseQuestion& question) {
  if (!question.compute.statements.front().reducer) return std::nullopt;
  std::vector<Tiling> tilings = AllTilings(question);
  if (tilings.empty()) return std::nullopt;
  const Tiling& best = BestOf(tilings);
  if (!std::isfinite(best.seconds)) return std::nullopt;  // not even one block fits
  const double seconds = best.seconds;
  Knobs<CudaTileChoice> knobs = KnobsOf(best.plan, best.best);
  AddKnobsOf(tilings, best.best, knobs);
  return DevicePhase{"cuda_tile", knobs.list(),
                     [tilings = std::move(tilings), knobs, device = question.device](
                         const std::vector<int64_t>& values, Schedule& schedule) {
                       const CudaTileChoice choice = knobs.Choose(values);
                       WriteTiling(Chosen(tilings, choice), choice, device, schedule);
                     },
                     seconds};
}

}  // namespace tunec
