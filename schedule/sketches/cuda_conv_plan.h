// The roles that the iterators of a convolution play in a block's tile that warps compute by matrix
// instructions (cuda_conv.cc), and how large the parts of a tile are.
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

/// The image or the weights, which both go through shared storage.
struct CudaConvOperand {
  std::string tensor;
  std::vector<IndexExpr> index;
  int64_t bytes = 2;  // of an element
  /// Dimensions in shared storage, what is reduced in pieces last.
  std::vector<int64_t> dimensions;
  /// Iterators of outputs that blocks have windows of, or begin elsewhere for.
  std::vector<VarId> starts;
};

/// The instruction's rows are output channels, its columns neighbours along a line of pixels; a
/// tile has several lines.
struct CudaConvPlan {
  CudaTilePlan tile;  // without reductions outside of the pieces
  const TileIntrinsic* intrinsic = nullptr;
  VarId row;                      // an output channel: known to the weights alone
  VarId line;                     // known to the image alone
  VarId column;                   // a pixel of a line
  std::vector<VarId> grid;        // outputs that number blocks, outermost first
  std::vector<int64_t> fragment;  // dimensions of the sums: others, the line, the row, the column
  CudaConvOperand weights;
  CudaConvOperand image;

  int64_t Extent(TileAxis axis) const { return intrinsic->Extent(axis); }
  /// Multiply-adds of a tile's element in a step along what is reduced in pieces.
  int64_t Taps() const;
};

/// The packs of operands without which MakeCudaConvPlan refuses them; nothing where the first
/// statement is no sum of products that it may take.
std::vector<PackStep> PacksOfCudaConv(const Compute& compute);

/// None where the first statement is no sum of products of an image's windows and weights that a
/// matrix instruction of the device multiplies under the contract. `compute`: the sum, and
/// statements that follow it and write outputs.
std::optional<CudaConvPlan> MakeCudaConvPlan(const Compute& compute, const Accelerator& device,
                                             const RoundingFreedom& rounding);

/// A block has row_warps x line_warps warps. Each computes row_tiles x line_tiles x column_tiles
/// tiles of the instruction.
struct CudaConvChoice {
  int64_t row_warps = 2;
  int64_t line_warps = 2;
  int64_t row_tiles = 2;
  int64_t line_tiles = 2;
  int64_t column_tiles = 1;
  int64_t steps = 1;   // instructions along what is reduced in pieces, for each tap
  int64_t stages = 2;  // pieces that are in shared storage at once
  int64_t parts = 1;   // of what is reduced, each by blocks of its own (cuda_split.h)

  int64_t Warps() const { return row_warps * line_warps; }
  bool operator==(const CudaConvChoice&) const = default;
};

/// The choice with what this plan or the device can't have made smaller. Requires: a device with
/// all facts.
CudaConvChoice Fitted(const CudaConvPlan& plan, CudaConvChoice choice, const Accelerator& device);

/// The numbers of iterations that a tile, or a piece of it, has of an iterator; tiles at the end
/// have as many (`pad`).
int64_t TileExtent(const CudaConvPlan& plan, const CudaConvChoice& choice, VarId iterator);

int64_t BlocksOf(const CudaConvPlan& plan, const CudaConvChoice& choice);

/// Elements along one dimension of an operand that one piece of one tile reads.
int64_t SideLength(const CudaConvPlan& plan, const CudaConvChoice& choice, const IndexExpr& index);

/// How many stages really are: no more than there are pieces.
int64_t StagesOf(const CudaConvPlan& plan, const CudaConvChoice& choice);

/// By occupancy, waves and bytes. Requires: a device with all facts.
double EstimateSeconds(const CudaConvPlan& plan, const CudaConvChoice& choice,
                       const Accelerator& device);

/// The choice of which that says least. Requires: a device with all facts.
CudaConvChoice BestCudaConv(const CudaConvPlan& plan, const Accelerator& device);

}  // namespace tunec
