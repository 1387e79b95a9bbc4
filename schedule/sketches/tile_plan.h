// Plans of register tiles (tile.cc). A plan has the roles of a Compute's iterators in the tile.
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

// The roles of a Compute's iterators in the sketch, and the steps that have prepared the Compute.
struct TilePlan {
  // An operand that a statement before the reduction computes, with all planes of bfloat16 parts at
  // once. The operand does not depend on the column iterator. Therefore a task can compute the
  // operand once for a block of rows, and then walk all columns.
  struct Operand {
    std::string statement;
    TensorId tensor;
    std::vector<VarId> dimensions;  // the reduction's iterators that walk the dimensions of the
                                    // tensor, or of a plane of it
    std::shared_ptr<const ChainedSum> sum;  // sum that the statement finishes, or null
  };

  // The instruction of the products (ir/tile_intrinsic.h), and the steps that prepare the operands.
  // The instruction multiplies groups of elements that are consecutive along the long reduction.
  // Operands of another type than the instruction's are rounded first.
  struct Dot {
    const TileIntrinsic* intrinsic = nullptr;
    std::vector<ComputeStep> rewrites;  // steps before `cache_write`
    std::optional<PackStep> broadcast;  // storage order of the broadcast operand
    std::optional<PadStep> pad;         // step that is applied after the operands are packed
    int64_t columns = 0;                // number of columns before padding
    int64_t rows = 0;   // number of rows before padding, for an instruction on matrices; else 0
    int64_t depth = 0;  // extent of the long reduction before padding
    std::optional<VarId> part_product;  // iterator over the products of bfloat16 parts
    // Numbers of planes of bfloat16 parts: in the operand along the columns, and in the other
    // operand; 1 without a split. The planes are the first dimension of a split operand.
    int64_t column_planes = 1;
    int64_t row_planes = 1;
  };

  std::string lowering;
  std::shared_ptr<const Compute> compute;     // after `cache_write`
  std::optional<CacheWriteStep> cache_write;  // set if the reduction does not write workspace
  Statement reduction;
  std::vector<WidenStep> widened;  // steps that were applied to make `compute`
  std::optional<Dot> dot;          // its steps were applied to make `compute` too
  // The K-blocks of a long sum; empty if the sum is not split. With K-blocks, `reduction` has the
  // names of the sum of a K-block (SumOfPiece), and `compute` has the whole sum instead.
  std::optional<Pieces> pieces;
  std::optional<Operand> operand;
  std::vector<std::string> before;     // other statements before the reduction: separate phases
  std::vector<std::string> followers;  // statements after the reduction
  VarId column;
  std::optional<VarId> row;
  std::vector<VarId> shared;      // outputs that both operands use: batches, groups
  std::vector<VarId> outer_rows;  // outputs other than the row that only the broadcast operand uses
  std::vector<VarId> outer_reductions;
  std::optional<VarId> long_reduction;
  std::vector<VarId> short_reductions;  // unrolled
  // Storage order in which the operand along the columns can be packed; empty if packing does not
  // help. For an axis over a part of a dimension, the tile's number of columns replaces factor 1.
  std::optional<PackStep> pack;
  bool pack_is_optional = false;
  bool pack_by_default = true;
  bool row_has_conditions = false;
  bool column_has_conditions = false;
  int64_t reduction_size = 1;
  int64_t panel_bytes_per_column = 0;

  /// Returns the name of the packed tensor. A workspace tensor is itself stored in the packed
  /// order; of any other tensor the step `pack` makes a copy.
  std::string PackedName() const {
    const Tensor& tensor = compute->tensors[*compute->FindTensor(pack->tensor)];
    return tensor.name + (tensor.role == TensorRole::kWorkspace ? "" : ".pack");
  }
  /// Returns the name of the statement whose results are the complete sums.
  const std::string& Total() const { return pieces ? pieces->total : reduction.name; }
  /// Returns the names of the statements that write the tile's elements.
  std::vector<std::string> Writers() const;
  /// Returns the number of values of the long reduction's iterator, or of those in a K-block if
  /// K-blocks split this iterator.
  int64_t LongSteps() const;
  /// Returns the number of results for each value of the column: the product of the extents of all
  /// other outputs.
  int64_t ResultsOfColumn() const;
  /// Returns the Compute whose arguments and statements the schedule is for. If a sum computes the
  /// operand (ChainedSum), this is the Compute with both sums.
  const Compute& Whole() const;
  int64_t Extent(VarId iterator) const { return reduction.iterators[iterator].extent; }
  std::string Loop(VarId iterator) const {
    return reduction.name + "." + reduction.iterators[iterator].name;
  }
};

// A sum of few elements, from whose results the operand of a second sum is computed, such as a
// depthwise convolution before a pointwise one. The first sum is computed inside the second sum's
// tasks, in separate register tiles.
struct ChainedSum {
  TilePlan plan;                         // plan of the sum and of its finishing statement, alone
  std::shared_ptr<const Compute> whole;  // Compute with both sums; `plan.compute` has only this one
};

inline const Compute& TilePlan::Whole() const {
  return operand && operand->sum ? *operand->sum->whole : *compute;
}

/// Sets `shared`, `outer_rows` and, if there is one, `row`. Requires: reduction and column are set.
void AssignOutputs(TilePlan& plan);

/// Sets `operand` to the first suitable statement before the reduction, if there is one, and adds
/// the others to `before`. Skips statements that only prepare constants. `reduction` is the id of
/// the reduction in the plan's Compute. Requires: `dot` and the roles of all iterators are final.
void AssignBefore(TilePlan& plan, StatementId reduction);

/// Sets `pieces` and `reduction` for a sum in K-blocks, if PiecesOf returns some. Does nothing
/// without a long reduction or with a `dot`. Call CutLongSum last.
void CutLongSum(const RoundingFreedom& rounding, TilePlan& plan);

/// Returns the arguments that the sum reads along the columns, if caching them is useless. Every
/// read that uses the column must be of an argument, be contiguous along the columns, and read each
/// element once. Otherwise returns an empty list, and also if the sum has conditions, or its
/// operands are packed, cast or multiplied by `dot`.
std::vector<std::string> StreamedOperands(const TilePlan& plan);

/// Returns the reduction's iterators without `part_product`, in the tile's order, outermost first.
std::vector<VarId> ReductionOrderOf(const TilePlan& plan);

/// Returns the storage order of an operand that is packed for the tile's loops. The column's axes
/// have factor 1. Requires: the roles of all iterators are set, and only one index uses the column,
/// by itself or with an offset.
PackStep PackInLoopOrder(const TilePlan& plan, const Read& read);

/// Returns one plan for each of the most promising columns, the best first. Returns an empty list
/// unless the Compute has exactly one reduction, and the reduction fits.
std::vector<TilePlan> MakeTilePlans(const NamedCompute& lowering, const Target& target);

}  // namespace tunec
