#include "schedule/sketches/tile_writer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketches/order_copies.h"
#include "schedule/sketches/tile_operands.h"

namespace tunec {
namespace {

// Writes the steps for one choice.
class TileWriter {
 public:
  TileWriter(const TilePlan& plan, const TileChoice& choice) : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    for (const WidenStep& step : plan_.widened) Add(step);
    if (plan_.dot) {
      for (const ComputeStep& step : plan_.dot->rewrites) Add(step);
    }
    if (plan_.cache_write) Add(*plan_.cache_write);
    operands_.PackSum();
    Pack();
    if (plan_.pieces) Add(plan_.pieces->Step());
    Split();
    Reorder();
    Attach();
    if (plan_.dot) SplitGroups();
    Finish();
    OrderCopies(plan_.Whole(), schedule_);
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  bool OperandByBlock() const { return plan_.operand && plan_.row && choice_.operand_by_block; }
  bool Blocked() const { return plan_.row && (plan_.outer_rows.empty() || OperandByBlock()); }
  std::string Column() const { return plan_.Loop(plan_.column); }
  std::string Row() const { return plan_.Loop(*plan_.row); }
  // Returns the innermost loop over register tiles.
  std::string TileLoop() const {
    if (!plan_.row) return Column() + ".0";
    return Row() + (Blocked() ? ".1" : ".0");
  }
  std::string RowSuffix() const {
    return "." + plan_.reduction.iterators[*plan_.row].name + (Blocked() ? ".2" : ".1");
  }
  std::string ColumnSuffix() const {
    return "." + plan_.reduction.iterators[plan_.column].name + ".1";
  }

  // Returns the vector loop of a statement that writes the tile's elements.
  std::string VectorOf(const std::string& statement) const {
    return statement + ColumnSuffix() + (plan_.dot ? ".1" : "");
  }

  void Pack() {
    if (plan_.pack && choice_.pack) Add(PackForColumns(plan_, choice_.columns));
    if (!plan_.dot) return;
    // For an operand in a task's buffer, ComputeByBlock sets the order.
    if (plan_.dot->broadcast && !OperandByBlock()) Add(*plan_.dot->broadcast);
    if (plan_.dot->pad) Add(*plan_.dot->pad);
  }
  // Returns true if a task has several batches. The loop over a task's batches is then inside all
  // parallel loops.
  bool GroupsBatches() const {
    return choice_.batches > 1 && !plan_.shared.empty() && plan_.row && !OperandByBlock();
  }
  void Split() {
    if (GroupsBatches()) Add(SplitStep{plan_.Loop(plan_.shared.back()), {choice_.batches}});
    Add(SplitStep{Column(), {choice_.columns}});
    if (plan_.Extent(plan_.column) % choice_.columns != 0 || plan_.column_has_conditions) {
      Add(IsolateStep{Column() + ".0"});
    }
    if (!plan_.row) return;
    const bool partial = plan_.Extent(*plan_.row) % choice_.rows != 0 || plan_.row_has_conditions;
    if (Blocked()) {
      Add(SplitStep{Row(), {choice_.block, choice_.rows}});
      const bool partial_block = plan_.Extent(*plan_.row) % (choice_.rows * choice_.block) != 0;
      if (partial_block || partial) {
        Add(IsolateStep{Row() + ".0"});
        Add(IsolateStep{Row() + ".1"});
      }
    } else {
      Add(SplitStep{Row(), {choice_.rows}});
      if (partial) Add(IsolateStep{Row() + ".0"});
    }
  }
  void Reorder() {
    ReorderStep order;
    const auto add = [&](const std::string& loop) { order.loops.push_back(loop); };
    for (const VarId iterator : plan_.shared) add(plan_.Loop(iterator));
    if (GroupsBatches()) order.loops.back() += ".0";
    const bool columns_outside = choice_.columns_outside && !OperandByBlock();
    if (columns_outside) add(Column() + ".0");
    for (const VarId iterator : plan_.outer_rows) add(plan_.Loop(iterator));
    if (Blocked()) add(Row() + ".0");
    // All columns of a block use the operand that the task computes, so their loop is not parallel.
    if (OperandByBlock()) parallel_ = order.loops;
    if (!columns_outside) add(Column() + ".0");
    if (!OperandByBlock()) parallel_ = order.loops;
    if (GroupsBatches()) add(plan_.Loop(plan_.shared.back()) + ".1");
    if (plan_.row) add(TileLoop());
    if (plan_.pieces) add(plan_.pieces->Loop());
    for (const VarId iterator : ReductionOrderOf(plan_)) add(plan_.Loop(iterator));
    if (plan_.row) add(plan_.reduction.name + RowSuffix());
    add(plan_.reduction.name + ColumnSuffix());
    Add(std::move(order));
  }
  void Attach() {
    if (OperandByBlock()) operands_.ComputeByBlock({".1", ".2"});
    const std::string& sums = plan_.compute->tensors[plan_.reduction.writes[0].tensor].name;
    if (plan_.pieces) JoinPieces(*plan_.pieces, plan_.pieces->Loop(), schedule_);
    Add(ComputeAtStep{plan_.Total() + ".init", TileLoop()});
    for (const std::string& follower : plan_.followers) Add(ComputeAtStep{follower, TileLoop()});
    // The sum of a K-block is in registers, and the total is in a buffer in the first-level cache.
    if (plan_.pieces) {
      Add(StageStep{plan_.pieces->Sum(), Scope::kRegister, plan_.pieces->Loop()});
    }
    Add(StageStep{sums, plan_.pieces ? Scope::kPacked : Scope::kRegister, TileLoop()});
    for (size_t i = 0; i + 1 < plan_.followers.size(); ++i) StageFollower(plan_.followers[i]);
  }
  // Splits the loops into tiles of the instruction, and replaces the sum's tiles by the
  // instruction.
  void SplitGroups() {
    const int64_t columns = plan_.dot->intrinsic->Extent(TileAxis::kColumn);
    const std::string sum = plan_.reduction.name;
    const std::string reduced = plan_.Loop(*plan_.long_reduction);
    const std::string vectors = sum + ColumnSuffix();
    for (const std::string& name : plan_.Writers())
      Add(SplitStep{name + ColumnSuffix(), {columns}});
    Add(IsolateStep{vectors + ".0"});
    Add(SplitStep{reduced, {plan_.dot->intrinsic->Extent(TileAxis::kGroup)}});
    ReorderStep order{{reduced + ".0"}};
    if (plan_.row) order.loops.push_back(sum + RowSuffix());
    order.loops.insert(order.loops.end(), {vectors + ".0", reduced + ".1", vectors + ".1"});
    Add(std::move(order));
    Add(TensorizeStep{reduced + ".1", plan_.dot->intrinsic->name});
  }
  void StageFollower(const std::string& follower) {
    const Statement& statement = plan_.compute->statements[*plan_.compute->FindStatement(follower)];
    for (const tunec::Write& write : statement.writes) {
      const Tensor& tensor = plan_.compute->tensors[write.tensor];
      if (tensor.role == TensorRole::kWorkspace) {
        Add(StageStep{tensor.name, Scope::kRegister, TileLoop()});
      }
    }
  }
  void Finish() {
    for (const std::string& name : plan_.Writers()) {
      if (plan_.row) Add(UnrollStep{name + RowSuffix()});
      if (plan_.dot) Add(UnrollStep{name + ColumnSuffix() + ".0"});
      Add(VectorizeStep{VectorOf(name)});
    }
    for (const VarId iterator : plan_.short_reductions) Add(UnrollStep{plan_.Loop(iterator)});
    if (plan_.long_reduction && choice_.unroll > 1) {
      const std::string loop = plan_.Loop(*plan_.long_reduction) + (plan_.dot ? ".0" : "");
      Add(UnrollStep{loop, static_cast<int>(choice_.unroll)});
    }
    operands_.VectorizeBlock();
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
    if (choice_.ahead > 0 && plan_.long_reduction) {
      for (const std::string& tensor : StreamedOperands(plan_)) {
        Add(PrefetchStep{tensor, plan_.Loop(*plan_.long_reduction), choice_.ahead});
      }
    }
    if (plan_.pack && choice_.pack && choice_.prefetch) {
      Add(PrefetchStep{plan_.PackedName(), Column() + ".0", 1, 2});
    }
    if (choice_.operand_prefetch) operands_.PrefetchSum(plan_.Loop(plan_.outer_rows.back()));
    for (const std::string& name : plan_.before) operands_.WritePhase(name);
    if (plan_.operand && !OperandByBlock()) operands_.WritePhase(plan_.operand->statement);
  }
  const TilePlan& plan_;
  TileChoice choice_;
  Schedule schedule_;
  std::vector<std::string> parallel_;
  TileOperands operands_{plan_, choice_.columns, choice_.operand_vector, schedule_};
};

}  // namespace

Schedule WriteTileSchedule(const TilePlan& plan, const TileChoice& choice) {
  return TileWriter(plan, choice).Write();
}

}  // namespace tunec
