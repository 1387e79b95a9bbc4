// The roles that a sum's iterators play in a block's tile that warps compute by matrix instructions
// (cuda_tensor.cc), and how large the parts of a tile are.
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

/// One of the two tensors that are multiplied. Both go through shared storage.
struct CudaTensorOperand {
  std::string tensor;
  std::vector<IndexExpr> index;
  std::optional<size_t> plane;      // the dimension of its terms' planes
  int64_t planes = 1;               // all of which a piece has
  int64_t bytes = 2;                // of an element
  VarId across;                     // the row of the left one, the column of the right one
  bool along_reduced = true;        // neighbours in memory are reduced; else they lie across
  std::vector<int64_t> dimensions;  // as they lie in memory, the innermost last
  int64_t chunk = 8;                // elements that a thread copies at once
};

struct CudaTensorPlan {
  CudaTilePlan tile;  // whose `row`, `column` and `piecewise` a block's tile has several of
  const TileIntrinsic* intrinsic = nullptr;
  std::vector<int64_t> fragment;  // dimensions of the sums: others, the row, the column
  std::vector<VarId> grid;        // outputs that number blocks, outermost first
  std::vector<VarId> outside;     // reductions around the pieces that are shared
  CudaTensorOperand left;         // knows the row
  CudaTensorOperand right;        // knows the column
  bool padded = false;            // tiles may go beyond the ends of what they tile
  // Of split operands: the reduction over products of terms, the small ones first. Each piece is
  // then a sum of its own, which lanes add to theirs.
  std::optional<VarId> term;

  int64_t Extent(TileAxis axis) const { return intrinsic->Extent(axis); }
  /// Into how many terms each operand is split: with two, three products are kept, with three six.
  int Terms() const { return !term ? 1 : tile.Extent(*term) == 3 ? 2 : 3; }
};

/// The matrix instruction that multiplies what the sum does; null where there is none, or the
/// contract refuses it.
const TileIntrinsic* MatrixInstructionFor(const Statement& sum, const Accelerator& device,
                                          const RoundingFreedom& rounding);

/// Multiply-adds of the instruction in a clock of a processor.
double MatrixRate(const TileIntrinsic& intrinsic, const Accelerator& device);

/// None where the first statement is no sum of products of two elements that a matrix instruction
/// of the device multiplies under the contract; where an operand is no box; and where whole
/// instructions do not fill its row, its column and what is reduced. `compute`: the sum, as it is
/// or with operands split by `precision`, and statements that follow it and write outputs.
std::optional<CudaTensorPlan> MakeCudaTensorPlan(const Compute& compute, const Accelerator& device,
                                                 const RoundingFreedom& rounding);

/// The same of any extents: the sum is padded until all tiles are full, and copies are narrower
/// where rows in memory are no multiples of 16 bytes. None, too, where no copy can hold the zeros.
std::optional<CudaTensorPlan> MakePaddedCudaTensorPlan(const Compute& compute,
                                                       const Accelerator& device,
                                                       const RoundingFreedom& rounding);

/// A block has row_warps x column_warps warps, each of which computes row_tiles x column_tiles
/// tiles of the instruction.
struct CudaTensorChoice {
  int64_t row_warps = 2;
  int64_t column_warps = 2;
  int64_t row_tiles = 2;
  int64_t column_tiles = 4;
  int64_t steps = 2;   // instructions along what is reduced, in a piece
  int64_t stages = 3;  // pieces that are in shared storage at once
  int64_t band = 1;    // rows of blocks that run near each other

  int64_t Warps() const { return row_warps * column_warps; }
  bool operator==(const CudaTensorChoice&) const = default;
};

/// The choice with what this plan or the device can't have made smaller: tiles of blocks fill the
/// row, the column and what is reduced, or where the plan is padded are no more than twice as long;
/// threads, registers and shared storage suffice. Requires: powers of two, of all but the stages; a
/// device with all facts.
CudaTensorChoice Fitted(const CudaTensorPlan& plan, CudaTensorChoice choice,
                        const Accelerator& device);

/// The numbers of iterations that a tile has of an iterator in this choice: 1 of those that only
/// number blocks.
int64_t TileExtent(const CudaTensorPlan& plan, const CudaTensorChoice& choice, VarId iterator);

/// What makes all tiles full: the iterators that tiles do not divide; none where they divide all.
std::optional<PadStep> PaddingOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice);

/// How many stages really are: no more than there are pieces.
int64_t StagesOf(const CudaTensorPlan& plan, const CudaTensorChoice& choice);

/// By occupancy, waves and bytes. Requires: a device with all facts.
double EstimateSeconds(const CudaTensorPlan& plan, const CudaTensorChoice& choice,
                       const Accelerator& device);

/// The choice of which that says least. Requires: a device with all facts.
CudaTensorChoice BestCudaTensor(const CudaTensorPlan& plan, const Accelerator& device);

}  // namespace tunec
