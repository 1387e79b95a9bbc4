// The roles of a Compute's iterators in a register tile (tile.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "ir/tile_intrinsic.h"
#include "schedule/schedule.h"
#include "schedule/sketch.h"
#include "schedule/sketches/pieces.h"

namespace tunec {

struct ChainedSum;

// The roles of a Compute's iterators in the sketch.
struct TilePlan {
  // An operand that a statement before the reduction computes, all planes of its terms at once. The
  // operand does not depend on the column iterator. It can be computed once per row block, before
  // the block walks all columns.
  struct Operand {
    std::string statement;
    TensorId tensor;
    std::vector<VarId> dimensions;  // dimensions of the tensor, or of a plane, as the reduction's
                                    // iterators
    std::shared_ptr<const ChainedSum> sum;  // sum that the statement finishes, or null
  };

  // Products by an instruction of the table, which multiplies groups of reduced neighbours of the
  // long reduction. Operands in another form are rounded into copies.
  struct Dot {
    const TileIntrinsic* intrinsic = nullptr;
    std::vector<ComputeStep> rewrites;  // steps before `cache_write`
    std::optional<PackStep> broadcast;  // storage order of the broadcast operand
    std::optional<PadStep> pad;         // applied after the operands are packed
    int64_t columns = 0;                // number before padding
    int64_t rows = 0;                   // number before padding, for an instruction on matrices;
                                        // else 0
    int64_t depth = 0;                  // extent of the long reduction before padding
    std::optional<VarId> term;          // iterator over the products of bfloat16 terms
    // Number of planes of terms, the first dimension of the operand along the columns and of the
    // other.
    int64_t column_planes = 1;
    int64_t row_planes = 1;
  };

  std::string lowering;
  std::shared_ptr<const Compute> compute;     // after `cache_write`
  std::optional<CacheWriteStep> cache_write;  // set if the reduction does not write workspace
  Statement reduction;
  std::vector<WidenStep> widened;  // steps that are applied in `compute`
  std::optional<Dot> dot;          // its steps are applied in `compute` too
  // Set if the sum is long. `reduction` is then the sum of a K-block's products. `compute` does not
  // contain it: it has the whole sum.
  std::optional<Pieces> pieces;
  std::optional<Operand> operand;
  std::vector<std::string> before;     // other statements before the reduction: separate phases
  std::vector<std::string> followers;  // statements after the reduction
  VarId column;
  std::optional<VarId> row;
  std::vector<VarId> shared;      // outputs that both operands use: batches, groups
  std::vector<VarId> outer_rows;  // additional outputs of the broadcast operand
  std::vector<VarId> outer_reductions;
  std::optional<VarId> long_reduction;
  std::vector<VarId> short_reductions;  // unrolled
  // For the operand along the columns; an axis without a factor has the factor NR.
  std::optional<PackStep> pack;
  bool pack_is_optional = false;
  bool pack_by_default = true;
  bool row_has_conditions = false;
  bool column_has_conditions = false;
  int64_t reduction_size = 1;
  int64_t panel_bytes_per_column = 0;

  /// Returns the name of the packed tensor. Workspace is stored in the packed order; other tensors
  /// get a copy.
  std::string PackedName() const {
    const Tensor& tensor = compute->tensors[*compute->FindTensor(pack->tensor)];
    return tensor.name + (tensor.role == TensorRole::kWorkspace ? "" : ".pack");
  }
  /// Returns the statement whose results are the sums.
  const std::string& Total() const { return pieces ? pieces->total : reduction.name; }
  /// Returns the statements that write the tile's elements, in this order.
  std::vector<std::string> Writers() const;
  /// Returns the number of values of the long reduction's iterator, or of a K-block if it is split.
  int64_t LongSteps() const;
  /// Returns the number of results for each value of the column: the number of tiles besides those
  /// along it.
  int64_t ResultsOfColumn() const;
  /// Returns the Compute that the schedule is for, with regard to its arguments.
  const Compute& Whole() const;
  int64_t Extent(VarId iterator) const { return reduction.iterators[iterator].extent; }
  std::string Loop(VarId iterator) const {
    return reduction.name + "." + reduction.iterators[iterator].name;
  }
};

// A sum of few elements whose results are the operand of another sum: a depthwise convolution
// before a pointwise one. It is computed inside the other sum's tasks, in separate register tiles.
struct ChainedSum {
  TilePlan plan;                         // plan of the sum and of its finishing statement, alone
  std::shared_ptr<const Compute> whole;  // with both sums; each plan has one
};

inline const Compute& TilePlan::Whole() const {
  return operand && operand->sum ? *operand->sum->whole : *compute;
}

/// Sets the shared outputs, rows and outer rows. Requires: compute, reduction and column.
void AssignOutputs(TilePlan& plan);

/// Sets the statements before the reduction, which is this statement of the plan's Compute.
/// Requires: the roles of all iterators.
void AssignBefore(TilePlan& plan, StatementId reduction);

/// Splits the sum into K-blocks if it is long and the contract permits a split. Call it last.
void CutLongSum(const RoundingFreedom& rounding, TilePlan& plan);

/// Returns the arguments that are contiguous along the columns. The list is empty unless every read
/// that uses the column is of such an argument. The arguments are then read once, so caching is
/// useless.
std::vector<std::string> StreamedOperands(const TilePlan& plan);

/// Returns the loops of the reduction, outermost first.
std::vector<VarId> ReductionOrderOf(const TilePlan& plan);

/// Returns the storage order of an operand that is packed for the tile's loops; the column's axes
/// have no factor. Requires: the roles of all iterators. The column occurs only as an index by
/// itself, or as one with an offset.
PackStep PackInLoopOrder(const TilePlan& plan, const Read& read);

/// Returns one plan for each promising column, the best first. The list is empty unless the Compute
/// is one reduction, possibly with statements around it.
std::vector<TilePlan> MakeTilePlans(const NamedCompute& lowering, const Target& target);

}  // namespace tunec
