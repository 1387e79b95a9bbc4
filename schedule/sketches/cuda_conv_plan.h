// The plan of a convolution whose products are computed by matrix instructions (cuda_conv.cc). A
// thread block computes one tile. The plan has the role of each iterator in the tile, and the
// choice has the tile's sizes.
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

/// An operand of the convolution: the image or the weights. Both operands are copied to shared
/// storage.
struct CudaConvOperand {
  std::string tensor;
  std::vector<IndexExpr> index;
  int64_t bytes = 2;  // size of an element
  /// Order of the dimensions in shared storage; the dimension that is reduced in K-blocks is last.
  std::vector<int64_t> dimensions;
  /// Output iterators that the index uses, and along which each tile has a separate copy.
  std::vector<VarId> starts;
};

/// The plan of a convolution. The rows of the instruction are output channels, and its columns are
/// consecutive pixels of a line. A tile has several lines.
struct CudaConvPlan {
  CudaTilePlan tile;  // without reductions outside of the K-blocks
  const TileIntrinsic* intrinsic = nullptr;
  VarId row;                      // an output channel: only the weights use it
  VarId line;                     // a line of pixels: only the image uses it
  VarId column;                   // a pixel of a line
  std::vector<VarId> grid;        // output iterators over blocks, outermost first
  std::vector<int64_t> fragment;  // order of the sums' dimensions: the other dimensions, the line,
                                  // the row, the column
  CudaConvOperand weights;
  CudaConvOperand image;

  int64_t Extent(TileAxis axis) const { return intrinsic->Extent(axis); }
  /// Returns the number of multiply-adds for one element of a tile in one iteration of the
  /// reduction that is split into K-blocks.
  int64_t Taps() const;
};

/// Returns the packs of operands that MakeCudaConvPlan requires. Returns an empty list if none is
/// required, or if the sum does not fit.
std::vector<PackStep> PacksOfCudaConv(const Compute& compute);

/// Returns a plan if the first statement is a sum of products of an image's elements and weights.
/// `compute` also has the later statements that write outputs. Returns nothing if `device` has no
/// matrix instruction that `rounding` permits for the sum, or if shapes or layouts do not fit.
std::optional<CudaConvPlan> MakeCudaConvPlan(const Compute& compute, const Accelerator& device,
                                             const RoundingFreedom& rounding);

/// The sizes of a block's tile. A block has row_warps x line_warps warps. Each warp computes
/// row_tiles x line_tiles x column_tiles tiles of the instruction.
struct CudaConvChoice {
  int64_t row_warps = 2;
  int64_t line_warps = 2;
  int64_t row_tiles = 2;
  int64_t line_tiles = 2;
  int64_t column_tiles = 1;
  int64_t steps = 1;   // number of instructions along the reduced dimension of a K-block, for
                       // each tap
  int64_t stages = 2;  // number of K-blocks in shared storage at once
  int64_t parts = 1;   // number of parts of the reduction, each computed by separate blocks
                       // (cuda_split.h)

  int64_t Warps() const { return row_warps * line_warps; }
  bool operator==(const CudaConvChoice&) const = default;
};

/// Returns the choice, adjusted to sizes that the plan and, if possible, the device allow.
/// Requires: no property of the device is unknown (WithAllFacts).
CudaConvChoice Fitted(const CudaConvPlan& plan, CudaConvChoice choice, const Accelerator& device);

/// Returns the number of iterations of an iterator in a tile or in a K-block. The last tile has the
/// same number, because the step `pad` fills it.
int64_t TileExtent(const CudaConvPlan& plan, const CudaConvChoice& choice, VarId iterator);

int64_t BlocksOf(const CudaConvPlan& plan, const CudaConvChoice& choice);

/// Returns the number of elements that one K-block of one tile copies along one dimension of an
/// operand.
int64_t SideLength(const CudaConvPlan& plan, const CudaConvChoice& choice, const IndexExpr& index);

/// Returns the number of stages of the choice, but at most the number of K-blocks.
int64_t StagesOf(const CudaConvPlan& plan, const CudaConvChoice& choice);

/// Returns the estimated time by occupancy, waves and bytes; infinite if not even one block fits.
/// Requires: no property of the device is unknown (WithAllFacts).
double EstimateSeconds(const CudaConvPlan& plan, const CudaConvChoice& choice,
                       const Accelerator& device);

/// Returns, of a list of choices, the one with the least estimated time; a default choice if none
/// fits. Requires: no property of the device is unknown (WithAllFacts).
CudaConvChoice BestCudaConv(const CudaConvPlan& plan, const Accelerator& device);

}  // namespace tunec
