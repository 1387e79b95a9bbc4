#include "schedule/tile_writer.h"

#include <string>
#include <utility>
#include <vector>

namespace tunec {
namespace {

// Writes the steps for one choice.
class TileWriter {
 public:
  TileWriter(const TilePlan& plan, const TileChoice& choice) : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    Pack();
    Split();
    Reorder();
    Attach();
    Finish();
    return std::move(schedule_);
  }

 private:
  template <class T>
  void Add(T step) {
    schedule_.steps.emplace_back(std::move(step));
  }
  bool Blocked() const { return plan_.row && plan_.outer_rows.empty(); }
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
    if (choice_.columns_outside) add(Column() + ".0");
    for (const VarId iterator : plan_.outer_rows) add(plan_.Loop(iterator));
    if (Blocked()) add(Row() + ".0");
    if (!choice_.columns_outside) add(Column() + ".0");
    parallel_ = order.loops;
    if (plan_.row) add(TileLoop());
    for (const VarId iterator : ReductionOrderOf(plan_)) add(plan_.Loop(iterator));
    if (plan_.row) add(plan_.reduction.name + RowSuffix());
    add(plan_.reduction.name + ColumnSuffix());
    Add(std::move(order));
  }
  void Attach() {
    Add(ComputeAtStep{plan_.reduction.name + ".init", TileLoop()});
    for (const std::string& follower : plan_.followers) Add(ComputeAtStep{follower, TileLoop()});
    Add(StageStep{plan_.compute->tensors[plan_.reduction.writes[0].tensor].name, Scope::kRegister,
                  TileLoop()});
    for (size_t i = 0; i + 1 < plan_.followers.size(); ++i) StageFollower(plan_.followers[i]);
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
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
  }

  const TilePlan& plan_;
  TileChoice choice_;
  Schedule schedule_;
  std::vector<std::string> parallel_;
};

}  // namespace

Schedule WriteTileSchedule(const TilePlan& plan, const TileChoice& choice) {
  return TileWriter(plan, choice).Write();
}

}  // namespace tunec
