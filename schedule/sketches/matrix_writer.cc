#include "schedule/sketches/matrix_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketches/order_copies.h"
#include "schedule/sketches/pieces.h"
#include "schedule/sketches/tile_operands.h"

namespace tunec {
namespace {

bool ComputesByBlock(const TilePlan& plan, const MatrixChoice& choice) {
  return plan.operand && choice.operand_by_block;
}

// Returns true if the rows are split into blocks, each of one or more groups of tiles.
bool BlocksRows(const TilePlan& plan, const MatrixChoice& choice) {
  return plan.outer_rows.empty() || ComputesByBlock(plan, choice);
}

// Returns true if the reduction is split into K-blocks. A buffer stores the sums of a block of rows
// between the K-blocks.
bool CutsDepth(const TilePlan& plan, const MatrixChoice& choice) {
  return BlocksRows(plan, choice) && choice.depth > 0 && choice.depth < StepsOf(plan);
}

// Returns the plan with separate sums for the K-blocks, if the operands are split into bfloat16
// parts. Each product is then up to six products of parts, and each addition of such a product is
// rounded. In the sum of a K-block, which starts at zero, most rounding errors are smaller.
TilePlan WithPieces(TilePlan plan, const MatrixChoice& choice) {
  if (!plan.dot->part_product || !plan.outer_reductions.empty() || !CutsDepth(plan, choice))
    return plan;
  const Iterator& reduced = plan.reduction.iterators[*plan.long_reduction];
  const int64_t length = choice.depth * StepLengthOf(plan);
  plan.pieces = Pieces{.total = plan.reduction.name,
                       .iterator = reduced.name,
                       .along = *plan.long_reduction,
                       .length = length,
                       .products = length,
                       .whole = reduced.extent % length == 0};
  plan.reduction = SumOfPiece(plan.reduction, *plan.pieces);
  return plan;
}

class MatrixWriter {
 public:
  MatrixWriter(const TilePlan& plan, const MatrixChoice& choice)
      : plan_(WithPieces(plan, choice)), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    for (const ComputeStep& step : plan_.dot->rewrites) Add(step);
    if (plan_.cache_write) Add(*plan_.cache_write);
    Add(*plan_.pack);
    // The step `stage` sets the storage order of an operand that is computed by block.
    if (plan_.dot->broadcast && !OperandByBlock()) Add(*plan_.dot->broadcast);
    if (plan_.dot->pad) Add(*plan_.dot->pad);
    if (plan_.pieces) Add(plan_.pieces->Step());
    SplitColumns();
    SplitRows();
    Reorder();
    Attach();
    SplitDepth();
    Finish();
    OrderCopies(*plan_.compute, schedule_);
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  int64_t Extent(TileAxis axis) const { return plan_.dot->intrinsic->Extent(axis); }
  bool OperandByBlock() const { return ComputesByBlock(plan_, choice_); }
  bool Blocked() const { return BlocksRows(plan_, choice_); }
  bool ColumnsOutside() const { return choice_.columns_outside && !OperandByBlock(); }
  std::string Column() const { return plan_.Loop(plan_.column); }
  std::string Row() const { return plan_.Loop(*plan_.row); }
  std::string Reduced() const { return plan_.Loop(*plan_.long_reduction); }
  // Return the suffixes of the row's loops over the tiles of a group and over the rows of a tile.
  std::string RowTiles() const { return Blocked() ? ".2" : ".1"; }
  std::string RowsOfTile() const { return Blocked() ? ".3" : ".2"; }
  std::string ColumnsOf(const std::string& statement) const {
    return statement + "." + plan_.reduction.iterators[plan_.column].name + ".2";
  }
  // Returns the loop over groups of tiles, which is inside the loop over blocks if there are
  // blocks.
  std::string GroupLoop() const { return Row() + (Blocked() ? ".1" : ".0"); }
  // Returns the loop whose iterations have separate buffers for the sums. With blocks, this is not
  // the loop over groups. Conditions of the followers in that loop would prevent separate code for
  // complete groups at the end.
  std::string SumsLoop() const {
    if (!Blocked()) return GroupLoop();
    return ColumnsOutside() ? Row() + ".0" : Column() + ".0";
  }

  // Return true if the last group of rows or columns has fewer tiles than the others.
  bool RowTilesDiffer() const {
    return plan_.Extent(*plan_.row) % (choice_.rows * Extent(TileAxis::kRow)) != 0;
  }
  bool ColumnTilesDiffer() const {
    return plan_.Extent(plan_.column) % (choice_.columns * Extent(TileAxis::kColumn)) != 0;
  }

  void SplitColumns() {
    const int64_t columns = Extent(TileAxis::kColumn);
    Add(SplitStep{Column(), {choice_.columns, columns}});
    if (ColumnTilesDiffer() || plan_.column_has_conditions) Add(IsolateStep{Column() + ".0"});
  }
  void SplitRows() {
    const int64_t rows = Extent(TileAxis::kRow);
    const int64_t extent = plan_.Extent(*plan_.row);
    const bool partial = RowTilesDiffer() || plan_.row_has_conditions;
    if (!Blocked()) {
      Add(SplitStep{Row(), {choice_.rows, rows}});
      if (partial) Add(IsolateStep{Row() + ".0"});
      return;
    }
    Add(SplitStep{Row(), {choice_.block, choice_.rows, rows}});
    if (partial || extent % (choice_.block * choice_.rows * rows) != 0) {
      Add(IsolateStep{Row() + ".0"});
      Add(IsolateStep{Row() + ".1"});
    }
  }
  void Reorder() {
    ReorderStep order;
    const auto add = [&](const std::string& loop) { order.loops.push_back(loop); };
    for (const VarId iterator : plan_.shared) add(plan_.Loop(iterator));
    if (ColumnsOutside()) add(Column() + ".0");
    for (const VarId iterator : plan_.outer_rows) add(plan_.Loop(iterator));
    if (Blocked()) add(Row() + ".0");
    // If a task computes the operand of a block, all columns of the block run in this task.
    if (OperandByBlock()) parallel_ = order.loops;
    if (!ColumnsOutside()) add(Column() + ".0");
    if (!OperandByBlock()) parallel_ = order.loops;
    if (plan_.pieces) add(plan_.pieces->Loop());
    add(GroupLoop());
    for (const VarId iterator : ReductionOrderOf(plan_)) add(plan_.Loop(iterator));
    if (plan_.dot->part_product) add(plan_.Loop(*plan_.dot->part_product));
    add(Row() + RowTiles());
    add(Row() + RowsOfTile());
    add(Column() + ".1");
    add(Column() + ".2");
    Add(std::move(order));
  }
  void Attach() {
    if (OperandByBlock()) operands_.ComputeByBlock({".1", ".2", ".3"});
    if (plan_.pieces) AttachPieces(*plan_.pieces);
    Add(ComputeAtStep{plan_.Total() + ".init", SumsLoop()});
    for (const std::string& follower : plan_.followers) Add(ComputeAtStep{follower, SumsLoop()});
    Stage(plan_.compute->statements[*plan_.compute->FindStatement(plan_.Total())]);
    for (size_t i = 0; i + 1 < plan_.followers.size(); ++i) {
      Stage(plan_.compute->statements[*plan_.compute->FindStatement(plan_.followers[i])]);
    }
  }
  // Sums each K-block from zero in a buffer of the group of tiles, and then adds the result to the
  // sums.
  void AttachPieces(const Pieces& pieces) {
    JoinPieces(pieces, GroupLoop(), schedule_);
    Add(StageStep{pieces.Sum(), Scope::kPacked, GroupLoop()});
  }
  void Stage(const Statement& statement) {
    for (const tunec::Write& write : statement.writes) {
      const Tensor& tensor = plan_.compute->tensors[write.tensor];
      if (tensor.role != TensorRole::kWorkspace) continue;
      Add(StageStep{tensor.name, Scope::kPacked, SumsLoop()});
    }
  }
  // Splits the reduction into steps of one instruction, and into K-blocks if there are any. The
  // loops over a group's tiles are inside the loop over steps.
  void SplitDepth() {
    const int64_t reduced = Extent(TileAxis::kReduced), group = Extent(TileAxis::kGroup);
    ReorderStep order;
    for (const VarId iterator : plan_.outer_reductions) order.loops.push_back(plan_.Loop(iterator));
    std::vector<std::string> parts;
    if (CutsDepth(plan_, choice_) && !plan_.pieces) {
      Add(SplitStep{Reduced(), {choice_.depth, reduced, group}});
      if (StepsOf(plan_) % choice_.depth != 0) Add(IsolateStep{Reduced() + ".0"});
      order.loops.push_back(Reduced() + ".0");
      order.loops.push_back(GroupLoop());
      parts = {".1", ".2", ".3"};
    } else {
      Add(SplitStep{Reduced(), {reduced, group}});
      parts = {".0", ".1", ".2"};
    }
    // The last group may have fewer tiles, and followers may have conditions. Every tile is
    // complete nevertheless.
    Add(IsolateStep{Row() + RowTiles()});
    Add(IsolateStep{Column() + ".1"});
    order.loops.push_back(Reduced() + parts[0]);
    if (plan_.dot->part_product) order.loops.push_back(plan_.Loop(*plan_.dot->part_product));
    for (const std::string& loop : {Row() + RowTiles(), Column() + ".1", Row() + RowsOfTile(),
                                    Reduced() + parts[1], Reduced() + parts[2], Column() + ".2"}) {
      order.loops.push_back(loop);
    }
    Add(std::move(order));
    Add(TensorizeStep{Row() + RowsOfTile(), plan_.dot->intrinsic->name});
    // The products of parts in a step are unrolled, so operands stay in registers between them.
    if (plan_.dot->part_product) Add(UnrollStep{plan_.Loop(*plan_.dot->part_product)});
    Add(UnrollStep{Row() + RowTiles()});
    Add(UnrollStep{Column() + ".1"});
  }
  void Finish() {
    for (const std::string& name : plan_.Writers()) {
      if (name != plan_.reduction.name) Add(VectorizeStep{ColumnsOf(name)});
    }
    operands_.VectorizeBlock();
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
    for (const std::string& name : plan_.before) operands_.WritePhase(name);
    if (plan_.operand && !OperandByBlock()) operands_.WritePhase(plan_.operand->statement);
  }

  const TilePlan plan_;
  const MatrixChoice choice_;
  Schedule schedule_;
  std::vector<std::string> parallel_;
  TileOperands operands_{plan_, choice_.columns* Extent(TileAxis::kColumn), choice_.operand_vector,
                         schedule_};
};

}  // namespace

int64_t StepLengthOf(const TilePlan& plan) {
  const TileIntrinsic& by = *plan.dot->intrinsic;
  return by.Extent(TileAxis::kReduced) * by.Extent(TileAxis::kGroup);
}

int64_t StepsOf(const TilePlan& plan) {
  return plan.Extent(*plan.long_reduction) / StepLengthOf(plan);
}

Schedule WriteMatrixSchedule(const TilePlan& plan, const MatrixChoice& choice) {
  return MatrixWriter(plan, choice).Write();
}

}  // namespace tunec
