#include "schedule/sketches/tile_writer.h"

#include <algorithm>
#include <optional>
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
    if (plan_.dot) {
      for (const ComputeStep& step : plan_.dot->rewrites) Add(step);
    }
    if (plan_.cache_write) Add(*plan_.cache_write);
    Pack();
    Split();
    Reorder();
    Attach();
    if (plan_.dot) SplitGroups();
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

  // Of a statement that writes the tile's columns: those that are one vector.
  std::string VectorOf(const std::string& statement) const {
    return statement + ColumnSuffix() + (plan_.dot ? ".1" : "");
  }

  void Pack() {
    if (plan_.pack && choice_.pack) Add(PackForColumns());
    if (!plan_.dot) return;
    // A task's buffer has an order of its own.
    if (plan_.dot->broadcast && !OperandByBlock()) Add(*plan_.dot->broadcast);
    if (plan_.dot->pad) Add(*plan_.dot->pad);
  }
  PackStep PackForColumns() const {
    PackStep pack = *plan_.pack;
    for (PackStep::Axis& axis : pack.axes) {
      if (axis.part != PackStep::Part::kWhole && axis.factor == 1) axis.factor = choice_.columns;
    }
    return pack;
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
    ReorderStep order{OperandLoopsOfOne()};
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
    for (const PackStep::Axis& axis : OperandAxes()) stage.order.push_back(axis.dimension);
    Add(std::move(stage));
  }
  // The operand's dimensions as they lie in its buffer.
  std::vector<PackStep::Axis> OperandAxes() const {
    if (plan_.dot && plan_.dot->broadcast) return plan_.dot->broadcast->axes;
    std::vector<PackStep::Axis> axes;
    const auto rank = std::ssize(plan_.compute->tensors[plan_.operand->tensor].shape);
    for (int d = 0; d < rank; ++d) axes.push_back({.dimension = d});
    return axes;
  }
  // Over dimensions of one element, which no loop of the reduction walks: what rounds an operand
  // has a loop for each of its dimensions.
  std::vector<std::string> OperandLoopsOfOne() const {
    std::vector<std::string> loops;
    if (!plan_.dot) return loops;
    const Statement& statement =
        plan_.compute->statements[*plan_.compute->FindStatement(plan_.operand->statement)];
    const auto read =
        std::ranges::find(plan_.reduction.reads, plan_.operand->tensor, &Read::tensor);
    for (size_t d = 0; d < read->index.size(); ++d) {
      const std::optional<VarId> iterator = statement.writes[0].index[d].AsVar();
      if (!read->index[d].IsConstant() || !iterator) continue;
      loops.push_back(statement.name + "." + statement.iterators[*iterator].name);
    }
    return loops;
  }
  // Those of its dimensions that loops below its place walk.
  std::vector<VarId> OperandIterators() const {
    std::vector<VarId> below;
    for (const VarId iterator : plan_.operand->dimensions) {
      const bool around = std::ranges::find(plan_.shared, iterator) != plan_.shared.end() ||
                          std::ranges::find(plan_.outer_rows, iterator) != plan_.outer_rows.end();
      if (!around) below.push_back(iterator);
    }
    // As in its buffer: groups of reduced neighbours lie side by side.
    if (plan_.dot) {
      const auto last = std::ranges::find(below, *plan_.long_reduction);
      if (last != below.end()) std::rotate(last, last + 1, below.end());
    }
    return below;
  }
  // Vectors of the instruction's columns, and groups of what is reduced.
  void SplitGroups() {
    const int64_t columns = plan_.dot->intrinsic->Extent(TileAxis::kColumn);
    const std::string sum = plan_.reduction.name;
    const std::string reduced = plan_.Loop(*plan_.long_reduction);
    const std::string vectors = sum + ColumnSuffix();
    for (const std::string& name : Writers()) Add(SplitStep{name + ColumnSuffix(), {columns}});
    Add(IsolateStep{vectors + ".0"});
    Add(SplitStep{reduced, {plan_.dot->intrinsic->Extent(TileAxis::kGroup)}});
    ReorderStep order{{reduced + ".0"}};
    if (plan_.row) order.loops.push_back(sum + RowSuffix());
    order.loops.insert(order.loops.end(), {vectors + ".0", reduced + ".1", vectors + ".1"});
    Add(std::move(order));
    Add(TensorizeStep{reduced + ".1", plan_.dot->intrinsic->name});
  }
  // The statements that write the tile's elements.
  std::vector<std::string> Writers() const {
    std::vector<std::string> names = {plan_.reduction.name + ".init", plan_.reduction.name};
    names.insert(names.end(), plan_.followers.begin(), plan_.followers.end());
    return names;
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
    for (const std::string& name : Writers()) {
      if (plan_.row) Add(UnrollStep{name + RowSuffix()});
      if (plan_.dot) Add(UnrollStep{name + ColumnSuffix() + ".0"});
      Add(VectorizeStep{VectorOf(name)});
    }
    for (const VarId iterator : plan_.short_reductions) Add(UnrollStep{plan_.Loop(iterator)});
    if (plan_.long_reduction && choice_.unroll > 1) {
      const std::string loop = plan_.Loop(*plan_.long_reduction) + (plan_.dot ? ".0" : "");
      Add(UnrollStep{loop, static_cast<int>(choice_.unroll)});
    }
    if (!operand_vector_loop_.empty()) Add(VectorizeStep{operand_vector_loop_});
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
    if (plan_.pack && choice_.pack && choice_.prefetch) {
      Add(PrefetchStep{plan_.PackedName(), Column() + ".0", 1, 2});
    }
    for (const std::string& name : plan_.before) FinishPhase(name);
    if (plan_.operand && !OperandByBlock()) FinishPhase(plan_.operand->statement);
  }
  // A phase of its own, as the statement has its loops: the last one in vectors, the first ones, up
  // to one that has iterations to share, as tasks.
  void FinishPhase(const std::string& name) {
    const Statement& statement = plan_.compute->statements[*plan_.compute->FindStatement(name)];
    if (statement.reducer || statement.iterators.empty()) return;
    if (plan_.dot && FinishRounding(statement)) return;
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

  // The same of a statement that rounds an operand, as that is stored. False where it doesn't.
  bool FinishRounding(const Statement& statement) {
    const std::string& written = plan_.compute->tensors[statement.writes[0].tensor].name;
    const bool packed = written == plan_.pack->tensor;
    const bool ordered = plan_.dot->broadcast && written == plan_.dot->broadcast->tensor;
    if (!packed && !ordered) return false;
    const std::vector<PackStep::Axis> axes =
        packed ? PackForColumns().axes : plan_.dot->broadcast->axes;
    ReorderStep order;
    for (const PackStep::Axis& axis : axes) {
      // The statement that rounds has an iterator for each dimension, in their order.
      std::string loop =
          statement.name + "." + statement.iterators[IteratorVar(axis.dimension)].name;
      if (axis.part == PackStep::Part::kQuotient) {
        Add(SplitStep{loop, {axis.factor}});
        Add(IsolateStep{loop + ".0"});
      }
      if (axis.part != PackStep::Part::kWhole) {
        loop += axis.part == PackStep::Part::kQuotient ? ".0" : ".1";
      }
      order.loops.push_back(std::move(loop));
    }
    if (order.loops.size() > 1) Add(order);
    std::string last = order.loops.back();
    const bool whole = axes.back().part == PackStep::Part::kWhole;
    if (whole &&
        statement.iterators[IteratorVar(axes.back().dimension)].extent > choice_.operand_vector) {
      Add(SplitStep{last, {choice_.operand_vector}});
      last += ".1";
    }
    Add(VectorizeStep{last});
    for (size_t i = 0; i + 1 < order.loops.size(); ++i) {
      Add(ParallelizeStep{order.loops[i]});
      if (statement.iterators[IteratorVar(axes[i].dimension)].extent > 1) break;
    }
    return true;
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
