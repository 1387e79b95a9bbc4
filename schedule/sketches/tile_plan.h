// The roles that a Compute's iterators play in a register tile (tile.cc).
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

// The roles that a Compute's iterators play in the sketch.
struct TilePlan {
  // An operand that a statement before the reduction computes, all planes of its terms at once, and
  // that the columns do not know: it can be done for a block of rows that then walks all columns.
  struct Operand {
    std::string statement;
    TensorId tensor;
    std::vector<VarId> dimensions;  // of the tensor, or of a plane, as the reduction's iterators
    std::shared_ptr<const ChainedSum> sum;  // that the statement finishes, if it does
  };

  // Products by an instruction of the table, which multiplies groups of reduced neighbours; those
  // of the long reduction. What is not written as the instruction wants it, rounded copies hold.
  struct Dot {
    const TileIntrinsic* intrinsic = nullptr;
    std::vector<ComputeStep> rewrites;  // before `cache_write`
    std::optional<PackStep> broadcast;  // the storage order of the broadcast operand
    std::optional<PadStep> pad;         // after the operands are packed
    int64_t columns = 0;                // that there were before
    int64_t rows = 0;                   // the same, of an instruction on matrices; else 0
    int64_t depth = 0;                  // of the long reduction
    std::optional<VarId> term;          // over the products of bfloat16 terms
    // Planes of terms, the first dimension of the operand along the columns and of the other.
    int64_t column_planes = 1;
    int64_t row_planes = 1;
  };

  std::string lowering;
  std::shared_ptr<const Compute> compute;     // as `cache_write` leaves it
  std::optional<CacheWriteStep> cache_write;  // where the reduction does not write workspace
  Statement reduction;
  std::vector<WidenStep> widened;  // steps that `compute` has behind it
  std::optional<Dot> dot;          // whose steps `compute` has behind it, too
  // Where the sum is long. Then `reduction` is the sum of a piece's products, which `compute` does
  // not know: it has the whole one.
  std::optional<Pieces> pieces;
  std::optional<Operand> operand;
  std::vector<std::string> before;     // other statements before the reduction: phases of their own
  std::vector<std::string> followers;  // statements after the reduction
  VarId column;
  std::optional<VarId> row;
  std::vector<VarId> shared;      // outputs that both operands know: batches, groups
  std::vector<VarId> outer_rows;  // further outputs of the broadcast operand
  std::vector<VarId> outer_reductions;
  std::optional<VarId> long_reduction;
  std::vector<VarId> short_reductions;  // unrolled
  // Of the operand along the columns; where an axis has no factor yet, it is NR.
  std::optional<PackStep> pack;
  bool pack_is_optional = false;
  bool pack_by_default = true;
  bool row_has_conditions = false;
  bool column_has_conditions = false;
  int64_t reduction_size = 1;
  int64_t panel_bytes_per_column = 0;

  /// What the reduction reads once it is packed: workspace is stored so, of others there is a copy.
  std::string PackedName() const {
    const Tensor& tensor = compute->tensors[*compute->FindTensor(pack->tensor)];
    return tensor.name + (tensor.role == TensorRole::kWorkspace ? "" : ".pack");
  }
  /// The statement whose results are the sums.
  const std::string& Total() const { return pieces ? pieces->total : reduction.name; }
  /// The statements that write the tile's elements, in this order.
  std::vector<std::string> Writers() const;
  /// Values of the long reduction's iterator, those of a piece where that is cut.
  int64_t LongSteps() const;
  /// How many results each value of the column has: tiles there are beside those along it.
  int64_t ResultsOfColumn() const;
  /// The Compute that the schedule is for, as far as arguments go.
  const Compute& Whole() const;
  int64_t Extent(VarId iterator) const { return reduction.iterators[iterator].extent; }
  std::string Loop(VarId iterator) const {
    return reduction.name + "." + reduction.iterators[iterator].name;
  }
};

// A sum of few elements whose results are another one's operand: a depthwise convolution before a
// pointwise one. It is computed where that one's tasks want it, in register tiles of its own.
struct ChainedSum {
  TilePlan plan;                         // of the sum and what finishes it, alone
  std::shared_ptr<const Compute> whole;  // with both sums; plans have one each
};

inline const Compute& TilePlan::Whole() const {
  return operand && operand->sum ? *operand->sum->whole : *compute;
}

/// Sets which outputs are shared, rows and outer rows. Requires: compute, reduction and column.
void AssignOutputs(TilePlan& plan);

/// Sets what comes before the reduction, which is this statement of the plan's Compute. Requires:
/// the roles of all iterators.
void AssignBefore(TilePlan& plan, StatementId reduction);

/// Cuts the sum into pieces if it is long and the contract allows that. To be called last.
void CutLongSum(const RoundingFreedom& rounding, TilePlan& plan);

/// The arguments along whose rows the columns lie, if every read that knows the column is of one,
/// which is then read once: nothing is gained by keeping it. Else none.
std::vector<std::string> StreamedOperands(const TilePlan& plan);

/// The loops of the reduction, outermost first.
std::vector<VarId> ReductionOrderOf(const TilePlan& plan);

/// The storage order of an operand that is packed for the tile's loops; its column's axes lack the
/// factor. Requires: the roles of all iterators; no index but the column's own knows it, or one
/// that begins at an offset.
PackStep PackInLoopOrder(const TilePlan& plan, const Read& read);

/// One plan for each promising column, the best first; none when the Compute is not one reduction,
/// perhaps with statements around it.
std::vector<TilePlan> MakeTilePlans(const NamedCompute& lowering, const Target& target);

}  // namespace tunec
