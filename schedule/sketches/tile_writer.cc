#include "schedule/sketches/tile_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketches/order_copies.h"

namespace tunec {
namespace {

// Writes the steps for one choice.
class TileWriter {
 public:
  TileWriter(const TilePlan& plan, const TileChoice& choice) : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    for (const WidenStep& step : plan_.widened) Add(step);
    if (plan_.cache_write) Add(*plan_.cache_write);
    Pack();
    Split();
    Reorder();
    Attach();
    Finish();
    OrderCopies(*plan_.compute, schedule_);
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  bool OperandByBlock() const { return plan_.operand && plan_.row && choice_.operand_by_block; }
  bool Blocked() const { return plan_.row && (plan_.outer_rows.empty() || OperandByBlock()); }
  std::string Column() const { return plan_.Loop(plan_.column); }
  std::string Row() const { return plan_.Loop(*plan_.row); }
  // The innermost of the loops over tiles: the register tile lives in it.
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

  void Pack() {
    if (!plan_.pack || !choice_.pack) return;
    PackStep pack = *plan_.pack;
    for (PackStep::Axis& axis : pack.axes) {
      if (axis.part != PackStep::Part::kWhole) axis.factor = choice_.columns;
    }
    Add(std::move(pack));
  }
  void Split() {
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
    const bool columns_outside = choice_.columns_outside && !OperandByBlock();
    if (columns_outside) add(Column() + ".0");
    for (const VarId iterator : plan_.outer_rows) add(plan_.Loop(iterator));
    if (Blocked()) add(Row() + ".0");
    // The columns of a block share the operand that its task computes.
    if (OperandByBlock()) parallel_ = order.loops;
    if (!columns_outside) add(Column() + ".0");
    if (!OperandByBlock()) parallel_ = order.loops;
    if (plan_.row) add(TileLoop());
    for (const VarId iterator : ReductionOrderOf(plan_)) add(plan_.Loop(iterator));
    if (plan_.row) add(plan_.reduction.name + RowSuffix());
    add(plan_.reduction.name + ColumnSuffix());
    Add(std::move(order));
  }
  void Attach() {
    if (OperandByBlock()) AttachOperand();
    Add(ComputeAtStep{plan_.reduction.name + ".init", TileLoop()});
    for (const std::string& follower : plan_.followers) Add(ComputeAtStep{follower, TileLoop()});
    Add(StageStep{plan_.compute->tensors[plan_.reduction.writes[0].tensor].name, Scope::kRegister,
                  TileLoop()});
    for (size_t i = 0; i + 1 < plan_.followers.size(); ++i) StageFollower(plan_.followers[i]);
  }
  // The operand's loops are copies of the reduction's, then vectors along its last dimension.
  void AttachOperand() {
    const TilePlan::Operand& operand = *plan_.operand;
    Add(ComputeAtStep{operand.statement, Row() + ".0"});
    ReorderStep order;
    const std::vector<VarId> below = OperandIterators();
    for (const VarId iterator : below) {
      const std::string loop = operand.statement + "." + plan_.reduction.iterators[iterator].name;
      const bool is_row = iterator == plan_.row;
      if (is_row) {
        order.loops.push_back(loop + ".1");
        order.loops.push_back(loop + ".2");
        continue;
      }
      const bool last = iterator == below.back();
      const int64_t extent = plan_.Extent(iterator);
      if (last && extent > choice_.operand_vector) {
        Add(SplitStep{loop, {choice_.operand_vector}});
        if (extent % choice_.operand_vector != 0) Add(IsolateStep{loop + ".0"});
        order.loops.push_back(loop + ".0");
        order.loops.push_back(loop + ".1");
      } else {
        order.loops.push_back(loop);
      }
    }
    operand_vector_loop_ = order.loops.empty() ? "" : order.loops.back();
    if (order.loops.size() > 1) Add(std::move(order));
    StageStep stage{plan_.compute->tensors[operand.tensor].name, Scope::kPacked, Row() + ".0"};
    for (size_t d = 0; d < plan_.compute->tensors[operand.tensor].shape.size(); ++d)
      stage.order.push_back(static_cast<int64_t>(d));
    Add(std::move(stage));
  }
  // Those of its dimensions that loops below its place walk.
  std::vector<VarId> OperandIterators() const {
    std::vector<VarId> below;
    for (const VarId iterator : plan_.operand->dimensions) {
      const bool around = std::ranges::find(plan_.shared, iterator) != plan_.shared.end() ||
                          std::ranges::find(plan_.outer_rows, iterator) != plan_.outer_rows.end();
      if (!around) below.push_back(iterator);
    }
    return below;
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
    std::vector<std::string> names = {plan_.reduction.name + ".init", plan_.reduction.name};
    names.insert(names.end(), plan_.followers.begin(), plan_.followers.end());
    for (const std::string& name : names) {
      if (plan_.row) Add(UnrollStep{name + RowSuffix()});
      Add(VectorizeStep{name + ColumnSuffix()});
    }
    for (const VarId iterator : plan_.short_reductions) Add(UnrollStep{plan_.Loop(iterator)});
    if (plan_.long_reduction && choice_.unroll > 1) {
      Add(UnrollStep{plan_.Loop(*plan_.long_reduction), static_cast<int>(choice_.unroll)});
    }
    if (!operand_vector_loop_.empty()) Add(VectorizeStep{operand_vector_loop_});
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
    for (const std::string& name : plan_.before) FinishPhase(name);
    if (plan_.operand && !OperandByBlock()) FinishPhase(plan_.operand->statement);
  }
  // A phase of its own, as the statement has its loops: the last one in vectors, the first ones, up
  // to one that has iterations to share, as tasks.
  void FinishPhase(const std::string& name) {
    const Statement& statement = plan_.compute->statements[*plan_.compute->FindStatement(name)];
    if (statement.reducer || statement.iterators.empty()) return;
    const auto loop = [&](const Iterator& iterator) { return name + "." + iterator.name; };
    std::string last = loop(statement.iterators.back());
    if (statement.iterators.back().extent > choice_.operand_vector) {
      Add(SplitStep{last, {choice_.operand_vector}});
      last += ".1";
    }
    Add(VectorizeStep{last});
    for (VarId i = IteratorVar(0); statement.iterators.contains(i.next()); ++i) {
      Add(ParallelizeStep{loop(statement.iterators[i])});
      if (statement.iterators[i].extent > 1) break;
    }
  }

  const TilePlan& plan_;
  TileChoice choice_;
  Schedule schedule_;
  std::vector<std::string> parallel_;
  std::string operand_vector_loop_;
};

}  // namespace

Schedule WriteTileSchedule(const TilePlan& plan, const TileChoice& choice) {
  return TileWriter(plan, choice).Write();
}

}  // namespace tunec
