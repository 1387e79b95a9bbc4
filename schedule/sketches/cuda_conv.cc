// Tiles of convolutions by matrix instructions, with elementwise followers, on a device. The
// instructions multiply windows of an image by weights (implicit GEMM).
//
// The instruction's rows are output channels, its columns are consecutive pixels of a line, and it
// sums over input channels. It has only eight columns, so the last tile of a line has few unused
// pixels. A block computes a tile of channels, lines and columns. Each warp computes some channels
// of some lines, in fragments (ir/tile_intrinsic.h). The input channels are split into K-blocks.
// For each K-block, all threads copy the tile's window of the image, and the weights of all taps,
// to shared storage. The copies are some K-blocks ahead of the multiplication. Each tap then reads
// the window at a different offset. Warps load the input channels of a pixel as a row of a matrix,
// at any offset. So a block reads an element of the image from memory once for all taps.
//
//   grid: other outputs, channel tiles, line tiles, column tiles
//     fragments: sums[lines][channels][columns] = 0
//       K-blocks of the input channels, several stages
//         threads: copy a later K-block of the window and of the weights
//         warps: taps, steps, tiles unrolled: sums += weights * window
//       threads: out = f(sums), each lane its elements
//
// The copies store zeros at the image's border, and for a tile's pixels and channels beyond the
// last ones (`pad`). So all tiles are full, and taps have no conditions. Operands whose input
// channels are not contiguous are packed by an earlier phase, or at compile time if they are
// constant. If there are too few blocks for the processors, each block sums a part of the input
// channels (cuda_split.h). The accuracy contract decides which types are multiplied, as in
// cuda_tensor.cc.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "schedule/sketches/cuda_conv_plan.h"
#include "schedule/sketches/cuda_conv_writer.h"
#include "schedule/sketches/cuda_split.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/operand_phases.h"
#include "schedule/sketches/sub_compute.h"
#include "schedule/steps/apply_compute_steps.h"
#include "support/check.h"

namespace tunec {
namespace {

// A plan for the sums in a number of parts.
struct Tiling {
  CudaConvPlan plan;  // plan of the sums, or of the partial sums of parts
  CudaConvChoice best;
  double seconds = 0;
  std::optional<SumParts> parts = {};
};

// One way to multiply: steps that rewrite statements, phases that compute operands, and tilings.
struct Convolution {
  std::vector<ComputeStep> rewrites;
  OperandPhases operands;
  std::vector<Tiling> tilings;

  const Tiling& best() const { return *std::ranges::min_element(tilings, {}, &Tiling::seconds); }
  double seconds() const { return operands.seconds + best().seconds; }
};

Compute FromSum(const Compute& compute, const std::string& sum) {
  return StatementsOf(compute, *compute.FindStatement(sum), compute.statements.next_id());
}

Tiling BestTiling(CudaConvPlan plan, const Accelerator& device) {
  const CudaConvChoice best = BestCudaConv(plan, device);
  const double seconds = EstimateSeconds(plan, best, device);
  return {std::move(plan), best, seconds};
}

std::optional<Tiling> TilingInParts(const PhaseQuestion& question, const CudaConvPlan& whole,
                                    int64_t count) {
  const int64_t length = whole.tile.Extent(whole.tile.piecewise) / count;
  std::optional<SumParts> parts = SplitSum(question, whole.tile.piecewise, whole.row, length);
  if (!parts) return std::nullopt;
  std::optional<CudaConvPlan> plan =
      MakeCudaConvPlan(parts->partial, question.device, question.rounding);
  if (!plan) return std::nullopt;
  Tiling tiling = BestTiling(*std::move(plan), question.device);
  tiling.best.parts = count;
  tiling.seconds += parts->seconds;
  tiling.parts = std::move(parts);
  return tiling;
}

// Returns the tiling of whole sums, then tilings with more and more parts. Stops at the first
// tiling with two blocks for each processor.
std::vector<Tiling> TilingsOf(const PhaseQuestion& question, const CudaConvPlan& plan) {
  constexpr int64_t kLeastLength = 32;  // iterations of a part
  const int64_t enough = int64_t{2} * question.device.processors;
  std::vector<Tiling> tilings = {BestTiling(plan, question.device)};
  for (const int64_t count : PartCounts(plan.tile.Extent(plan.tile.piecewise), kLeastLength)) {
    if (BlocksOf(tilings.back().plan, tilings.back().best) >= enough) break;
    std::optional<Tiling> next = TilingInParts(question, plan, count);
    if (!next) break;
    tilings.push_back(*std::move(next));
  }
  return tilings;
}

std::optional<Convolution> MakeConvolution(Rewritten rewritten, const std::string& sum,
                                           const PhaseQuestion& question) {
  for (const PackStep& pack : PacksOfCudaConv(FromSum(rewritten.compute, sum))) {
    Result<Compute> packed = Apply(rewritten.compute, pack);
    if (!packed) return std::nullopt;
    rewritten.compute = *std::move(packed);
    rewritten.steps.emplace_back(pack);
  }
  const Compute part = FromSum(rewritten.compute, sum);
  const std::optional<CudaConvPlan> plan =
      MakeCudaConvPlan(part, question.device, question.rounding);
  if (!plan) return std::nullopt;
  std::optional<OperandPhases> operands =
      MakeOperandPhases(rewritten.compute, *rewritten.compute.FindStatement(sum), question);
  if (!operands) return std::nullopt;
  std::vector<Tiling> tilings =
      TilingsOf({.compute = part, .device = question.device, .rounding = question.rounding}, *plan);
  return Convolution{.rewrites = std::move(rewritten.steps),
                     .operands = *std::move(operands),
                     .tilings = std::move(tilings)};
}

// Returns the faster of two convolutions that the contract permits: with the operands as they are,
// or rounded to bfloat16.
std::optional<Convolution> BestConvolution(const PhaseQuestion& question) {
  const std::optional<Rewritten> inlined = InlineFollowers(question.compute);
  if (!inlined) return std::nullopt;
  const std::string sum = inlined->compute.statements.front().name;
  std::optional<Convolution> best = MakeConvolution(*inlined, sum, question);
  const bool may_round =
      question.rounding.order == ReductionOrder::kAny && question.rounding.min_bf16_parts <= 1;
  if (!may_round) return best;
  const PrecisionStep to_bf16{.statement = sum, .bf16_parts = 1};
  Result<Compute> rounded = Apply(inlined->compute, to_bf16);
  if (!rounded) return best;  // not a product of float32 operands
  Rewritten rewritten{*std::move(rounded), inlined->steps};
  rewritten.steps.emplace_back(to_bf16);
  std::optional<Convolution> other = MakeConvolution(std::move(rewritten), sum, question);
  if (!best || (other && other->seconds() < best->seconds())) return other;
  return best;
}

Knobs<CudaConvChoice> KnobsOf(const Convolution& convolution) {
  const CudaConvChoice best = convolution.best().best;
  Knobs<CudaConvChoice> knobs(best);
  knobs.AddAround("row_warps", {1, 2, 4, 8}, &CudaConvChoice::row_warps);
  knobs.AddAround("line_warps", {1, 2, 4, 8}, &CudaConvChoice::line_warps);
  knobs.AddAround("row_tiles", {1, 2, 4, 8}, &CudaConvChoice::row_tiles);
  knobs.AddAround("line_tiles", {1, 2, 4, 8}, &CudaConvChoice::line_tiles);
  knobs.AddAround("column_tiles", {1, 2, 3, 4, 7, 8}, &CudaConvChoice::column_tiles);
  knobs.AddAround("steps", {1, 2, 4}, &CudaConvChoice::steps);
  knobs.AddAround("stages", {1, 2, 3, 4}, &CudaConvChoice::stages);
  if (convolution.tilings.size() == 1) return knobs;
  std::vector<int64_t> parts;
  for (const Tiling& tiling : convolution.tilings) parts.push_back(tiling.best.parts);
  knobs.AddAround("parts", std::move(parts), &CudaConvChoice::parts);
  return knobs;
}

void WriteConvolution(const Convolution& convolution, const CudaConvChoice& choice,
                      const Accelerator& device, Schedule& schedule) {
  const auto has_parts = [&](const Tiling& tiling) { return tiling.best.parts == choice.parts; };
  const auto found = std::ranges::find_if(convolution.tilings, has_parts);
  TUNEC_CHECK(found != convolution.tilings.end(), "no tiling in {} parts", choice.parts);
  const auto& [plan, best, seconds, parts] = *found;
  for (const ComputeStep& step : convolution.rewrites) schedule.Add(step);
  if (parts)
    for (const ComputeStep& step : parts->steps) schedule.Add(step);
  convolution.operands.Write(schedule);
  WriteCudaConv(plan, Fitted(plan, choice, device), schedule);
  if (!parts) return;
  parts->adding.WriteInitial(schedule);
  schedule.Add(UnrollStep{parts->loop});  // the loads of all parts are in flight at once
}

}  // namespace

std::optional<DevicePhase> MakeCudaConvPhase(const PhaseQuestion& question) {
  if (!question.compute.statements.front().reducer) return std::nullopt;
  std::optional<Convolution> found = BestConvolution(question);
  if (!found) return std::nullopt;
  const double seconds = found->seconds();
  if (!std::isfinite(seconds)) return std::nullopt;  // not even one block fits
  const Knobs<CudaConvChoice> knobs = KnobsOf(*found);
  const auto convolution = std::make_shared<const Convolution>(*std::move(found));
  return DevicePhase{"cuda_conv", knobs.list(),
                     [convolution, knobs, device = question.device](
                         const std::vector<int64_t>& values, Schedule& schedule) {
                       WriteConvolution(*convolution, knobs.Choose(values), device, schedule);
                     },
                     seconds};
}

}  // namespace tunec
