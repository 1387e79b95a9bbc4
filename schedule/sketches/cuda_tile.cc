// Tiles of sums of products, for a device: products of matrices, one or a batch, and convolutions,
// with what follows them element by element.
//
// A block computes a tile of the output, each of its threads some rows by some columns of it, in
// registers. The reduction runs in pieces. All threads copy what a piece of the tile needs of an
// operand to storage that they share, before all of them use it; two pieces take turns, so that one
// is copied while the other is used. An operand of which a tile needs no box (a convolution's
// windows) is read where it lies; neighbours among the threads read neighbours.
//
//   grid: other outputs, row tiles, column tiles
//     registers: sums[rows][columns] = 0
//       pieces of the reduction, two shared copies in turns
//         threads: copy the next piece of A and of B
//         threads: a piece's iterations, unrolled
//           rows unrolled, columns vector: sums += a * b
//       threads: rows unrolled, columns vector: out = f(sums)
//
// Where a thread has several elements of a dimension, tiles divide it. Of a dimension without
// divisors a thread has one element, and at its end some threads have no work.
#include <cmath>
#include <utility>

#include "schedule/sketches/cuda_tile_plan.h"
#include "schedule/sketches/cuda_tile_writer.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/knobs.h"

namespace tunec {
namespace {

Knobs<CudaTileChoice> KnobsOf(const CudaTilePlan& plan, const CudaTileChoice& best) {
  Knobs<CudaTileChoice> knobs(best);
  const auto add = [&](std::string name, std::vector<int64_t> choices,
                       int64_t CudaTileChoice::*field) {
    knobs.Add(KnobAt(std::move(name), std::move(choices), best.*field), field);
  };
  add("column_threads", {4, 8, 16, 32, 64}, &CudaTileChoice::column_threads);
  add("column_elements", {1, 2, 4}, &CudaTileChoice::column_elements);
  if (plan.outer_column) add("outer_columns", {1, 2, 4, 8}, &CudaTileChoice::outer_columns);
  add("row_threads", {1, 2, 4, 8, 16, 32}, &CudaTileChoice::row_threads);
  add("row_elements", {1, 2, 4, 8, 16}, &CudaTileChoice::row_elements);
  if (plan.outer_row) add("outer_rows", {1, 2, 4, 8}, &CudaTileChoice::outer_rows);
  add("piece", {4, 8, 16, 32}, &CudaTileChoice::piece);
  add("stages", {1, 2}, &CudaTileChoice::stages);
  add("band", {1, 2, 4, 8}, &CudaTileChoice::band);
  return knobs;
}

}  // namespace

std::optional<DevicePhase> MakeCudaTilePhase(const PhaseQuestion& question) {
  if (!question.compute.statements.front().reducer) return std::nullopt;
  const std::optional<CudaTilePlan> plan = MakeCudaTilePlan(question.compute);
  if (!plan) return std::nullopt;
  const CudaTileChoice best = BestCudaTile(*plan, question.device);
  const double seconds = EstimateSeconds(*plan, best, question.device);
  if (!std::isfinite(seconds)) return std::nullopt;  // not even one block fits
  const Knobs<CudaTileChoice> knobs = KnobsOf(*plan, best);
  return DevicePhase{"cuda_tile", knobs.list(),
                     [plan = *plan, knobs, device = question.device](
                         const std::vector<int64_t>& values, Schedule& schedule) {
                       const CudaTileChoice choice = Fitted(plan, knobs.Choose(values), device);
                       WriteCudaTile(plan, choice, schedule);
                     },
                     seconds};
}

}  // namespace tunec
