// Tiles of sums of products by matrix instructions, for a device: products of matrices, one or a
// batch, with what follows them element by element.
//
// A block computes a tile of the output, each of its warps a part of it, tile by tile of the
// instruction, in fragments (ir/tile_intrinsic.h). The reduction runs in pieces. All threads copy
// what a piece of the block's tile needs of both operands to storage that they share, 16 bytes at a
// time, some pieces ahead of the one that is multiplied; there chunks change places, so that
// warps load rows of matrices from different banks.
//
//   grid: other outputs, row tiles, column tiles
//     fragments: sums[rows][columns] = 0
//       pieces of the reduction, several shared copies in turns
//         threads: copy a later piece of A and of B
//         warps: steps, tiles of rows, tiles of columns, unrolled: sums += a * b
//       threads: out = f(sums), each lane what it has
//
// Tiles have no ends: where they do not divide an extent, the sum is padded, and copies hold zeros
// beyond the ends of operands. They are narrower, down to an element, where rows in memory are no
// multiples of 16 bytes. Which types are multiplied is
// the accuracy contract's to say. Where it lets float32 be rounded, operands are rounded to TF32
// by the instruction, or to bfloat16 in phases before, whichever is estimated to be faster. Else
// they are split into two or three bfloat16 terms: a piece has planes of all of them, all its
// products are added up in fragments of its own, the small ones first, and lanes add these to sums
// in registers (docs/decisions/0019_split_float32.md):
//
//     registers: sums[rows][columns] = 0
//       pieces of the reduction
//         threads: copy the planes of a later piece of A and of B
//         fragments: part[rows][columns] = 0
//           warps: products of terms, steps, tiles of rows, of columns, unrolled: part += a * b
//         threads: sums += part, each lane what it has
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "schedule/sketches/cuda_tensor_plan.h"
#include "schedule/sketches/cuda_tensor_writer.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/operand_phases.h"
#include "schedule/sketches/sub_compute.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// One way to multiply: steps that rewrite statements, what they add, and the tile.
struct TensorProduct {
  std::vector<ComputeStep> rewrites;
  OperandPhases rounded;
  CudaTensorPlan plan;
  CudaTensorChoice best;
  double seconds = 0;
};

// By tiles that divide the extents or, where that is estimated to be faster, by padded ones.
std::optional<TensorProduct> ProductOf(const Compute& part, const PhaseQuestion& question) {
  const auto& [all, device, rounding] = question;
  std::optional<TensorProduct> fastest;
  for (auto& plan : {MakeCudaTensorPlan(part, device, rounding),
                     MakePaddedCudaTensorPlan(part, device, rounding)}) {
    if (!plan) continue;
    const CudaTensorChoice best = BestCudaTensor(*plan, device);
    const double seconds = EstimateSeconds(*plan, best, device);
    if (fastest && seconds >= fastest->seconds) continue;
    fastest = TensorProduct{.plan = *plan, .best = best, .seconds = seconds};
  }
  return fastest;
}

// The product as it is, or with operands split. None where they can't be, or don't fill tiles.
std::optional<TensorProduct> MakeProduct(const Rewritten& whole,
                                         const std::optional<PrecisionStep>& split,
                                         const PhaseQuestion& question) {
  const std::string sum = whole.compute.statements.front().name;
  const Result<Compute> compute = split ? Apply(whole.compute, *split) : whole.compute;
  if (!compute) return std::nullopt;
  const std::optional<StatementId> begin = compute->FindStatement(sum);
  const Compute part = StatementsOf(*compute, *begin, compute->statements.next_id());
  std::optional<TensorProduct> product = ProductOf(part, question);
  const bool in_terms = split && split->bf16_parts > 1;
  if (!product || product->plan.part_product.has_value() != in_terms) return std::nullopt;
  std::optional<OperandPhases> rounded = MakeOperandPhases(*compute, *begin, question);
  if (!rounded) return std::nullopt;
  product->rewrites = whole.steps;
  if (split && !in_terms) product->rewrites.emplace_back(*split);  // several terms the plan writes
  product->rounded = *std::move(rounded);
  product->seconds += product->rounded.seconds;
  return std::isfinite(product->seconds) ? std::move(product) : std::nullopt;
}

// The fastest of those that the contract allows. More terms than it wants are never faster, and so
// are several of TF32: as many products at half the rate, of twice the bytes.
std::optional<TensorProduct> BestProduct(const PhaseQuestion& question) {
  const std::optional<Rewritten> inlined = InlineFollowers(question.compute);
  if (!inlined) return std::nullopt;
  std::optional<TensorProduct> best = MakeProduct(*inlined, std::nullopt, question);
  if (question.rounding.order != ReductionOrder::kAny) return best;
  const PrecisionStep split{.statement = inlined->compute.statements.front().name,
                            .bf16_parts = std::max(question.rounding.min_bf16_parts, 1)};
  std::optional<TensorProduct> other = MakeProduct(*inlined, split, question);
  if (!best || (other && other->seconds < best->seconds)) return other;
  return best;
}

Knobs<CudaTensorChoice> KnobsOf(const CudaTensorChoice& best) {
  Knobs<CudaTensorChoice> knobs(best);
  knobs.AddAround("row_warps", {1, 2, 4, 8}, &CudaTensorChoice::row_warps);
  knobs.AddAround("column_warps", {1, 2, 4, 8}, &CudaTensorChoice::column_warps);
  knobs.AddAround("row_tiles", {1, 2, 4, 8}, &CudaTensorChoice::row_tiles);
  knobs.AddAround("column_tiles", {1, 2, 4, 8, 16}, &CudaTensorChoice::column_tiles);
  knobs.AddAround("steps", {1, 2, 4}, &CudaTensorChoice::steps);
  knobs.AddAround("stages", {1, 2, 3, 4}, &CudaTensorChoice::stages);
  knobs.AddAround("band", {1, 2, 4, 8}, &CudaTensorChoice::band);
  return knobs;
}

void WriteProduct(const TensorProduct& product, const CudaTensorChoice& choice,
                  Schedule& schedule) {
  for (const ComputeStep& step : product.rewrites) schedule.Add(step);
  product.rounded.Write(schedule);
  WriteCudaTensor(product.plan, choice, schedule);
}

}  // namespace

std::optional<DevicePhase> MakeCudaTensorPhase(const PhaseQuestion& question) {
  if (!question.compute.statements.front().reducer) return std::nullopt;
  std::optional<TensorProduct> found = BestProduct(question);
  if (!found) return std::nullopt;
  const Knobs<CudaTensorChoice> knobs = KnobsOf(found->best);
  const auto product = std::make_shared<const TensorProduct>(*std::move(found));
  return DevicePhase{"cuda_tensor", knobs.list(),
                     [product, knobs, device = question.device](const std::vector<int64_t>& values,
                                                                Schedule& schedule) {
                       WriteProduct(*product, Fitted(product->plan, knobs.Choose(values), device),
                                    schedule);
                     },
                     product->seconds};
}

}  // namespace tunec
