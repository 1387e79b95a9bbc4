// The plan of a sum whose products are computed by matrix instructions (cuda_tensor.cc). A thread
// block computes one tile. The plan has the role of each iterator in the tile, and the choice has
// the tile's sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "ir/tile_intrinsic.h"
#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"
#include "schedule/sketches/cuda_tile_plan.h"

namespace tunec {

/// One of the two tensors that are multiplied. Both are copied to shared storage.
struct CudaTensorOperand {
  std::string tensor;
  std::vector<IndexExpr> index;
  std::optional<size_t> plane;  // dimension of the bf16 split's planes
  int64_t planes = 1;           // number of planes; a K-block has all of them
  int64_t bytes = 2;            // size of an element
  VarId across;                 // the row for the left operand, the column for the right operand
  bool along_reduced = true;    // contiguous along the reduced dimension, else along `across`
  std::vector<int64_t> dimensions;  // order in memory, the innermost last
  int64_t chunk = 8;                // number of elements that a thread copies at once
};

struct CudaTensorPlan {
  CudaTilePlan tile;  // a tile has several iterations of its `row`, `column`, `piecewise`
  const TileIntrinsic* intrinsic = nullptr;
  std::vector<int64_t> fragment;  // order of the sums' dimensions: the row and the column last
  std::vector<VarId> grid;        // output iterators over blocks, outermost first
  std::vector<VarId> outside;     // reductions around the K-blocks in shared storage
  CudaTensorOperand left;         // the operand that uses the row
  CudaTensorOperand right;        // the operand that uses the column
  bool padded = false;            // tiles may extend beyond the ends of the sum's dimensions
  // The reduction over products of bfloat16 parts, the small products first; empty if operands are
  // not split. With split operands each K-block is a separate sum, which lanes add to their sums.
  std::optional<VarId> part_product;

  int64_t Extent(TileAxis axis) const { return intrinsic->Extent(axis); }
  /// Returns the number of bfloat16 parts of each operand; 1 if operands are not split. Two parts
  /// need three products, and three parts need six.
  int Bf16Parts() const { return !part_product ? 1 : tile.Extent(*part_product) == 3 ? 2 : 3; }
};

/// Returns the matrix instruction for the sum's products. Returns null if no instruction of the
/// device computes them, or if the contract forbids it.
const TileIntrinsic* MatrixInstructionFor(const Statement& sum, const Accelerator& device,
                                          const RoundingFreedom& rounding);

/// Returns the multiply-adds that a processor executes per clock by the instruction.
double MatrixRate(const TileIntrinsic& intrinsic, const Accelerator& device);

/// Returns the plan for the first statement, or nothing, for example in these cases: the statement
/// has conditions, or is not a sum of products of two elements; the contract permits no matrix
/// instruction of the device; an operand is not a rectangular slice; instructions do not divide the
/// row, the column and the reduced dimension. `compute` has the sum, as written or with operands
/// split by `precision`, and the statements after it that write outputs.
std::optional<CudaTensorPlan> MakeCudaTensorPlan(const Compute& compute, const Accelerator& device,
                                                 const RoundingFreedom& rounding);

/// Returns a plan for any extents, and for sums with conditions. The sum is padded until all tiles
/// are full. Copies are narrower if rows in memory are not multiples of 16 bytes. Returns nothing,
/// for example, if MakePaddedCudaTilePlan does, if operands are split by `precision`, or if the
/// contract permits no matrix instruction of the device.
std::optional<CudaTensorPlan> MakePaddedCudaTensorPlan(const Compute& compute,
                                                       const Accelerator& device,
                                                       const RoundingFreedom& rounding);

/// The sizes of a block's tile. A block has row_warps x column_warps warps, each of which computes
/// row_tiles x column_tiles tiles of the instruction.
struct CudaTensorChoice {
  int64_t row_warps = 2;
  int64_t column_warps = 2;
  int64_t row_tiles = 2;
  int64_t column_tiles = 4;
  int64_t steps = 2;   // number of instructions along the reduced dimension in a K-block
  int64_t stages = 3;  // number of K-blocks in shared storage at once
  int64_t band = 1;    // rows of blocks in a band, whose blocks run near each other in time

  int64_t Warps() const { return row_warps * column_warps; }
  bool operator==(const CudaTensorChoice&) const = default;
};

/// Returns the choice, adjusted to sizes that the plan and, if possible, the device allow. Without
/// padding, tiles divide the row, the column and the reduced dimension. Requires: the sizes are
/// powers of two, except for the stages; no property of the device is unknown (WithAllFacts).
CudaTensorChoice Fitted(const CudaTensorPlan& plan, CudaTensorChoice choice,
                        const Accelerator& device);

/// Returns the number of iterations of an iterator in a K-block of a tile: 1 for all iterators
/// except the row, the column and the reduction that is split into K-blocks.
int64_t TileExtent(const CudaTensorPlan& plan, const CudaTensorChoice& choice, VarId iterator);

/// Returns the step that pads the iterators whose extents the tiles do not divide. Returns nothing
/// if tiles divide all extents and the sum has no conditions.
std::optional<PadStep> PaddingOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice);

/// Returns the number of stages of the choice, but at most the number of K-blocks.
int64_t StagesOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice);

/// Returns the estimated time by occupancy, waves and bytes; infinite if not even one block fits.
/// Requires: no property of the device is unknown (WithAllFacts).
double EstimateSeconds(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                       const Accelerator& device);

/// Returns, of a list of choices, the one with the least estimated time; a default choice if none
/// fits. Requires: no property of the device is unknown (WithAllFacts).
CudaTensorChoice BestCudaTensor(const CudaTensorPlan& plan, const Accelerator& device);

}  // namespace tunec
