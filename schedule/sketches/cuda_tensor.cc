// Tiles of sums of products by matrix instructions, with elementwise followers, on a device:
// products of matrices, single or in batches.
//
// A block computes a tile of the output. Each warp computes a part of the tile, in fragments
// (ir/tile_intrinsic.h), one tile of the instruction after the other. The reduction is split into
// K-blocks. All threads copy the needed parts of both operands to shared storage, in chunks of 16
// bytes. The copies are some K-blocks ahead of the multiplication. The chunks are swizzled in
// shared storage, so warps load the rows of matrices from different banks.
//
//   grid: other outputs, row tiles, column tiles
//     fragments: sums[rows][columns] = 0
//       K-blocks of the reduction, several stages
//         threads: copy a later K-block of A and of B
//         warps: steps, tiles of rows, tiles of columns, unrolled: sums += a * b
//       threads: out = f(sums), each lane its elements
//
// All tiles are full. If tiles do not divide an extent, the sum is padded, and the copies store
// zeros beyond the operands' ends. If rows in memory are not multiples of 16 bytes, the chunks of
// copies are narrower, down to one element.
//
// The accuracy contract decides which types are multiplied. If the contract permits TF32, the
// instruction can round float32 operands. Otherwise, or if it is estimated to be faster, earlier
// phases split these operands into bfloat16 parts. The contract determines the number of parts, one
// to three. If there are several, a K-block has the planes of all parts. The products of parts are
// added in separate fragments for each K-block, the small products first. Lanes then add the
// fragments to sums in registers (docs/decisions/0019_split_float32.md):
//
//     registers: sums[rows][columns] = 0
//       K-blocks of the reduction
//         threads: copy the planes of a later K-block of A and of B
//         fragments: part[rows][columns] = 0
//           warps: products of parts, steps, tiles of rows, of columns, unrolled: part += a * b
//         threads: sums += part, each lane its elements
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

// One way to multiply: steps that rewrite statements, phases that compute operands, and the tile.
struct TensorProduct {
  std::vector<ComputeStep> rewrites;
  OperandPhases rounded;
  CudaTensorPlan plan;
  CudaTensorChoice best;
  double seconds = 0;
};

// Returns the product by tiles that divide the extents, or by padded tiles if these are estimated
// to be faster. Returns nothing if neither fits.
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

// Returns the product as it is, or with operands split. Returns nothing, for example, if the split
// does not apply or tiles do not fit.
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
  if (split && !in_terms) product->rewrites.emplace_back(*split);  // else the writer adds it
  product->rounded = *std::move(rounded);
  product->seconds += product->rounded.seconds;
  return std::isfinite(product->seconds) ? std::move(product) : std::nullopt;
}

// Returns the fastest product that the contract permits. More bfloat16 parts than required are
// never faster. Several TF32 parts are not faster either: as many products run at half the rate,
// with twice the bytes.
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
