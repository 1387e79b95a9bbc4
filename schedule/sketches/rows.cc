// Rows: several statements that share outer iterators and walk one row after the other, with
// reductions along the row: softmax, normalisations, sums of the contiguous dimension.
//
// One task computes whole rows. A reduction along the row is split: lanes accumulate partial
// results in registers, which are combined at the row's end. What one statement leaves for the
// next stays in registers (scalars) or in a row buffer of the thread.
//
//   parallel: blocks of rows
//     rows of the block
//     registers: part[V] = identity
//     for each V elements: part[v] = combine(part[v], x[...])
//     m = combine of part
//     row buffer: e[j] = exp(x[j] - m) ...
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketches/knobs.h"
#include "schedule/sketches/row_plan.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

struct RowChoice {
  int64_t vector = 16;  // elements a step of a row handles
  int64_t rows = 1;     // of a task: what rows have in common is computed once for them
  bool non_temporal = false;
};

class RowWriter {
 public:
  RowWriter(const RowPlan& plan, const RowChoice& choice) : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    for (const RowStatement& statement : plan_.statements) {
      if (statement.split) {
        Add(ReduceSplitStep{statement.name, statement.along, VectorFor(statement),
                            ReduceSplitStep::Keep::kInner});
      }
    }
    Block();
    Join();
    Stage();
    for (const RowStatement& statement : plan_.statements) Vectorize(statement);
    Parallelize();
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  int64_t VectorFor(const RowStatement& statement) const {
    return std::min(choice_.vector, statement.length);
  }

  // The parallel loops, of which the last counts blocks of rows, and the loop over a block's rows.
  void Block() {
    for (const std::string& loop : plan_.row_loops) {
      parallel_.push_back(PivotOf(plan_) + "." + loop);
    }
    row_loop_ = parallel_.back();
    if (choice_.rows == 1) return;
    Add(SplitStep{row_loop_, {choice_.rows}});
    parallel_.back() = row_loop_ + ".0";
    row_loop_ += ".1";
  }

  // Everything joins the row loop of the pivot's partial reduction.
  void Join() {
    for (const RowStatement& statement : plan_.statements) {
      for (const std::string& part : PartsOf(statement)) {
        if (part != PivotOf(plan_)) Add(ComputeAtStep{part, row_loop_});
      }
    }
  }

  void Stage() {
    for (const RowStatement& statement : plan_.statements) {
      if (statement.split) Add(StageStep{statement.name + ".part", Scope::kRegister, row_loop_});
    }
    for (const auto& [tensor, is_row] : plan_.staged) {
      Add(StageStep{tensor, is_row ? Scope::kPacked : Scope::kRegister, row_loop_});
    }
  }

  void Vectorize(const RowStatement& statement) {
    const std::string& name = statement.name;
    if (statement.reduces && !statement.split) return;
    if (statement.reduces) {
      const std::string part = name + ".part.";
      const int64_t vector = VectorFor(statement);
      if (statement.length % vector != 0) Add(IsolateStep{part + statement.along + "o"});
      Add(VectorizeStep{part + statement.along + "i"});
      Add(VectorizeStep{name + ".part.init." + statement.along + "i"});
      Add(VectorizeStep{name + "." + statement.along + "i"});
      return;
    }
    if (!statement.walks) return;
    const std::string loop = name + "." + statement.along;
    const int64_t vector = VectorFor(statement);
    Add(SplitStep{loop, {vector}});
    if (statement.length % vector != 0) Add(IsolateStep{loop + ".0"});
    Add(VectorizeStep{loop + ".1"});
    const Statement& written =
        plan_.compute->statements[*plan_.compute->FindStatement(statement.name)];
    const bool output =
        plan_.compute->tensors[written.writes[0].tensor].role == TensorRole::kOutput;
    if (output && choice_.non_temporal) Add(NonTemporalStep{name});
  }

  void Parallelize() {
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
  }

  const RowPlan& plan_;
  RowChoice choice_;
  std::vector<std::string> parallel_;
  std::string row_loop_;
  Schedule schedule_;
};

// Blocks of rows large enough to pay for the start of a task, and enough of them for all threads.
Knob RowsKnob(const RowPlan& plan, const Target& target) {
  constexpr int64_t kElements = 4096;
  const int64_t length = LongestRow(plan);
  const int64_t rows = CountRows(plan);
  Knob knob{.name = "rows", .choices = {1}};
  for (int64_t block = 2; block <= 64 && block <= plan.row_extents.back(); block *= 2) {
    if (block * length <= kElements && rows / block >= 8 * target.host.threads) {
      knob.initial = static_cast<int>(knob.choices.size());
    }
    knob.choices.push_back(block);
  }
  return knob;
}

}  // namespace

void AddRowSketches(const NamedCompute& lowering, const Target& target,
                    std::vector<Sketch>& sketches) {
  const std::optional<RowPlan> plan = MakeRowPlan(lowering, RowReductions::kSplit);
  if (!plan) return;
  const int64_t lanes = target.host.Lanes(4);
  Knobs<RowChoice> knobs;
  knobs.Add({"vector", {lanes, 2 * lanes, 4 * lanes}, 1}, &RowChoice::vector);
  // Streaming stores pay when the outputs do not fit the caches anyway.
  const bool large = CountWork(*plan->compute).bytes > static_cast<double>(target.host.l3_bytes);
  knobs.Add({"non_temporal", {0, 1}, large ? 1 : 0}, &RowChoice::non_temporal);
  knobs.Add(RowsKnob(*plan, target), &RowChoice::rows);
  sketches.push_back(MakeSketch("rows", std::move(knobs), [plan = *plan](const RowChoice& choice) {
    return RowWriter(plan, choice).Write();
  }));
}

}  // namespace tunec
