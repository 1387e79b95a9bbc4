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
// divisors a thread has one element, and at its end some threads have no work.
#include <algorithm>
#include <cmath>
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

std::optional<Tiling> TilingInParts(const PhaseQuestion& question, const CudaTilePlan& whole,
                                    int64_t count) {
  std::optional<SumParts> parts = SplitSum(question, whole.piecewise, whole.column.iterator, count);
  if (!parts) return std::nullopt;
  std::optional<CudaTilePlan> plan = MakeCudaTilePlan(parts->partial);
  if (!plan) return std::nullopt;
  Tiling tiling = BestTiling(*std::move(plan), question.device);
  tiling.best.parts = count;
  tiling.seconds += parts->seconds;
  tiling.parts = std::move(parts);
  return tiling;
}

// The whole sums first, then those in parts, until all processors have blocks enough.
std::vector<Tiling> TilingsOf(const PhaseQuestion& question, const CudaTilePlan& plan) {
  constexpr int64_t kLeastLength = 16;  // of a part
  const int64_t enough = int64_t{2} * question.device.processors;
  std::vector<Tiling> tilings = {BestTiling(plan, question.device)};
  for (const int64_t count : PartCounts(plan.Extent(plan.piecewise), kLeastLength)) {
    if (BlocksOf(tilings.back().plan, tilings.back().best) >= enough) break;
    std::optional<Tiling> next = TilingInParts(question, plan, count);
    if (!next) break;
    tilings.push_back(*std::move(next));
  }
  return tilings;
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
  const std::optional<CudaTilePlan> plan = MakeCudaTilePlan(question.compute);
  if (!plan) return std::nullopt;
  std::vector<Tiling> tilings = TilingsOf(question, *plan);
  const Tiling& best = *std::ranges::min_element(tilings, {}, &Tiling::seconds);
  if (!std::isfinite(best.seconds)) return std::nullopt;  // not even one block fits
  const double seconds = best.seconds;
  Knobs<CudaTileChoice> knobs = KnobsOf(*plan, best.best);
  if (tilings.size() > 1) {
    std::vector<int64_t> parts;
    for (const Tiling& tiling : tilings) parts.push_back(tiling.best.parts);
    knobs.Add(KnobAt("parts", std::move(parts), best.best.parts), &CudaTileChoice::parts);
  }
  return DevicePhase{"cuda_tile", knobs.list(),
                     [tilings = std::move(tilings), knobs, device = question.device](
                         const std::vector<int64_t>& values, Schedule& schedule) {
                       const CudaTileChoice choice = knobs.Choose(values);
                       const auto parts = [](const Tiling& tiling) { return tiling.best.parts; };
                       const auto tiling = std::ranges::find(tilings, choice.parts, parts);
                       WriteTiling(*tiling, choice, device, schedule);
                     },
                     seconds};
}

}  // namespace tunec
