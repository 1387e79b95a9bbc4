// Tiles of sums of products by threads, with elementwise followers, on a device: products of
// matrices, single or in batches, and convolutions.
//
// A block computes a tile of the output. Each thread has some rows by some columns of the tile in
// registers. The reduction is split into K-blocks. For each K-block, all threads first copy the
// needed parts of operands to shared storage. With two stages, the next K-block is copied while the
// current one is used. The windows of a convolution are copied with their halo, or read in place.
// Operands of which a tile is not a rectangular slice are also read in place. Consecutive threads
// compute consecutive columns.
//
//   grid: other outputs, row tiles, column tiles
//     registers: sums[rows][columns] = 0
//       K-blocks of the reduction, two stages
//         threads: copy the next K-block of A and of B
//         threads: iterations of a K-block, unrolled
//           rows unrolled, columns vector: sums += a * b
//       threads: rows unrolled, columns vector: out = f(sums)
//
// If there are too few blocks for the processors, each block sums a part of the reduction
// (cuda_split.h).
//
// If a thread has several elements along a dimension, tiles must divide the dimension. If no tile
// divides the dimension, or it has conditions (a convolution's border), a thread has one element.
// Some threads at the end of such a dimension have no work. The alternative is a padded sum. All of
// its tiles are full, and threads have several elements. The copies of operands store zeros beyond
// the operands' ends. The initial choice is the variant that is estimated to be faster. A knob
// selects the other variant.
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

// A plan for the sums in a number of parts.
struct Tiling {
  CudaTilePlan plan;  // plan of the sums, or of the partial sums of parts
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

// Returns possible lengths of the parts of a sum, the longest first. For a padded plan, the lengths
// need not divide the sum.
std::vector<int64_t> LengthsOf(const CudaTilePlan& plan) {
  constexpr int64_t kLeastLength = 16;  // iterations of a part
  const int64_t whole = plan.Extent(plan.piecewise);
  if (plan.padded) return PartLengths(whole, kLeastLength, kLeastLength);
  std::vector<int64_t> lengths;
  for (const int64_t count : PartCounts(whole, kLeastLength)) lengths.push_back(whole / count);
  return lengths;
}

// Returns the tiling of whole sums, then tilings with more and more parts. Stops at the first
// tiling with two blocks for each processor.
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

// Returns the fastest tiling. A padded tiling must be clearly faster than the others, because the
// other costs of conditions and zeros are not estimated.
const Tiling& BestOf(const std::vector<Tiling>& tilings) {
  constexpr double kClearly = 0.95;
  const auto weighed = [](const Tiling& tiling) {
    return tiling.plan.padded ? tiling.seconds / kClearly : tiling.seconds;
  };
  return *std::ranges::min_element(tilings, {}, weighed);
}

// Returns all tilings without padding. Adds the padded tilings if the best of these has padding.
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

// Returns the tiling that the choice selects. The knob `parts` has the numbers of all tilings, so
// the nearest number of the selected kind is used.
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
  schedule.Add(UnrollStep{tiling.parts->loop});  // the loads of all parts are in flight at once
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
