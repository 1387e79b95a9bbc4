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
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "polyhedral/schedule_tree.h"
#include "schedule/access_analysis.h"
#include "schedule/relations.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// How one statement takes part.
struct RowStatement {
  std::string name;
  bool reduces = false;
  bool split = false;  // the reduction: by lanes. Of several values at once (argmax): in order
  /// The iterator that walks the row; none: a scalar per row.
  std::optional<VarId> walks;
  /// What it is called; of one that does not reduce, what its loop is called behind the statement
  /// once it has joined the others.
  std::string along;
  int64_t length = 1;  // of the row
};

struct RowPlan {
  std::string lowering;
  std::shared_ptr<const Compute> compute;
  std::vector<RowStatement> statements;
  std::string pivot;                   // the first reduction: the others join its row loop
  std::vector<std::string> row_loops;  // of the pivot, outermost first
  std::vector<int64_t> row_extents;
  std::vector<std::pair<std::string, bool>> staged;  // tensor, and whether it is a row buffer
  bool writes_output_rows = false;
};

// The reduced iterator along which some read of the statement is contiguous.
std::optional<VarId> ReducedAlong(const Compute& compute, const Statement& statement) {
  const std::vector<VarId> reduced = ReducedIterators(statement);
  for (const Read& read : statement.reads) {
    const auto contiguous = ContiguousIterator(compute, statement, read.tensor, read.index);
    if (contiguous && std::ranges::find(reduced, *contiguous) != reduced.end()) return contiguous;
  }
  return std::nullopt;
}

bool CanSplit(const Statement& statement) {
  return statement.reducer && statement.reducer->reorderable && statement.writes.size() == 1 &&
         statement.reducer->finalise.empty();
}

// Adds the reduction `statement` to the plan; false when it does not fit.
bool AddReduction(const Compute& compute, const Statement& statement, RowPlan& plan) {
  const std::optional<VarId> along = ReducedAlong(compute, statement);
  if (!along) return false;
  RowStatement row{.name = statement.name,
                   .reduces = true,
                   .split = CanSplit(statement),
                   .walks = along,
                   .along = statement.iterators[*along].name,
                   .length = statement.iterators[*along].extent};
  plan.statements.push_back(std::move(row));
  return true;
}

// The pivot's written iterators are the rows.
bool SetRows(const Statement& pivot, RowPlan& plan) {
  plan.pivot = pivot.name;
  for (const IndexExpr& index : pivot.writes[0].index) {
    const std::optional<VarId> iterator = index.AsVar();
    if (!iterator && !index.IsConstant()) return false;
  }
  for (const VarId iterator : WrittenIterators(pivot)) {
    plan.row_loops.push_back(pivot.iterators[iterator].name);
    plan.row_extents.push_back(pivot.iterators[iterator].extent);
  }
  return !plan.row_loops.empty();
}

// A statement that works element by element.
void AddPlain(const Compute& compute, StatementId id, const std::vector<int>& rows,
              const SharedDimensions& dimensions, RowPlan& plan) {
  const Statement& statement = compute.statements[id];
  RowStatement row{.name = statement.name};
  const auto along =
      ContiguousIterator(compute, statement, statement.writes[0].tensor, statement.writes[0].index);
  const bool shared =
      along && std::ranges::find(rows, dimensions.DimensionOf(id, *along)) != rows.end();
  if (along && !shared && statement.iterators.size() > plan.row_loops.size()) {
    row.walks = along;
    row.length = statement.iterators[*along].extent;
  }
  plan.statements.push_back(std::move(row));
}

// The tensors whose elements are indices of other reads.
void CollectIndices(const Statement& statement, std::set<TensorId>& indices) {
  const auto collect = [&](const IndexExpr& index) {
    RenumberLoaded(index, [&](int slot) {
      indices.insert(statement.reads[slot].tensor);
      return slot;
    });
  };
  for (const Read& read : statement.reads) std::ranges::for_each(read.index, collect);
  for (const Write& write : statement.writes) std::ranges::for_each(write.index, collect);
}

// Whether a workspace tensor that the pivot reads has nothing of some row: rows share it then, and
// it can't be computed for one of them.
bool ReadsSharedWork(const Compute& compute, const Statement& pivot) {
  const std::vector<VarId> rows = WrittenIterators(pivot);
  return std::ranges::any_of(pivot.reads, [&](const Read& read) {
    return compute.tensors[read.tensor].role == TensorRole::kWorkspace &&
           std::ranges::any_of(rows, [&](VarId row) { return !UsesIterator(read.index, row); });
  });
}

// The statements that the schedule makes of one, in the order in which they join the row loop.
std::vector<std::string> PartsOf(const RowStatement& statement) {
  const std::string& name = statement.name;
  if (statement.split) return {name + ".part", name + ".part.init", name, name + ".init"};
  if (statement.reduces) return {name, name + ".init"};
  return {name};
}

// The statement whose loops are the rows.
std::string PivotOf(const RowPlan& plan) {
  const auto pivot = std::ranges::find(plan.statements, plan.pivot, &RowStatement::name);
  return PartsOf(*pivot).front();
}

// The plan's Compute with the reductions split. By how much does not matter to which iterator is
// which; where one can't be split the schedule is refused.
Compute WithSplits(const RowPlan& plan) {
  Compute compute = *plan.compute;
  for (const RowStatement& row : plan.statements) {
    if (!row.split) continue;
    const ReduceSplitStep step{row.name, row.along, 2, ReduceSplitStep::Keep::kInner};
    if (Result<Compute> split = Apply(compute, step)) compute = *std::move(split);
  }
  return compute;
}

// What joins the row loop gets copies of the loops of the statement there that is related most, by
// their names: an element's loop may be called as that of a statement before it.
void NameRowLoops(RowPlan& plan) {
  const Statements statements = ExpandReductions(WithSplits(plan));
  IdVector<StatementId, IdVector<VarId, std::string>> names;  // of the loops
  for (const Statement& statement : statements) {
    IdVector<VarId, std::string>& own = names[names.push_back({})];
    for (const Iterator& iterator : statement.iterators) own.push_back(iterator.name);
  }
  const auto find = [&](const std::string& name) -> std::optional<StatementId> {
    const auto found = std::ranges::find(statements, name, &Statement::name);
    if (found == statements.end()) return std::nullopt;
    return statements.id_of(found);
  };
  std::set<StatementId> joined;
  if (const auto pivot = find(PivotOf(plan))) joined.insert(*pivot);
  for (RowStatement& row : plan.statements) {
    for (const std::string& part : PartsOf(row)) {
      const std::optional<StatementId> id = find(part);
      if (!id || joined.contains(*id)) continue;
      const auto closest = FindClosest(statements, *id, {joined.begin(), joined.end()});
      joined.insert(*id);
      if (!closest) continue;
      for (const auto& [iterator, value] : closest->iterators.exact) {
        if (const auto own = value.AsVar()) names[*id][*own] = names[closest->partner][iterator];
      }
    }
    if (!row.reduces && row.walks) row.along = names[*find(row.name)][*row.walks];
  }
}

std::optional<RowPlan> MakePlan(const NamedCompute& lowering) {
  RowPlan plan{.lowering = lowering.name,
               .compute = std::make_shared<const Compute>(lowering.compute)};
  const Compute& compute = *plan.compute;
  const auto pivot = std::ranges::find_if(compute.statements,
                                          [](const Statement& s) { return s.reducer.has_value(); });
  if (pivot == compute.statements.end()) return std::nullopt;
  if (!SetRows(*pivot, plan) || ReadsSharedWork(compute, *pivot)) return std::nullopt;
  const SharedDimensions dimensions = SharedDimensions::Of(compute);
  const StatementId pivot_id = compute.statements.id_of(pivot);
  std::vector<int> rows;
  for (const VarId iterator : WrittenIterators(*pivot)) {
    rows.push_back(dimensions.DimensionOf(pivot_id, iterator));
  }
  std::set<TensorId> indices;
  std::set<TensorId> tuples;  // written together by one reduction
  for (const StatementId s : compute.statements.ids()) {
    const Statement& statement = compute.statements[s];
    if (statement.reducer) {
      if (!AddReduction(compute, statement, plan)) return std::nullopt;
      if (statement.writes.size() > 1)
        for (const Write& write : statement.writes) tuples.insert(write.tensor);
    } else {
      if (statement.writes.size() != 1) return std::nullopt;
      AddPlain(compute, s, rows, dimensions, plan);
    }
    CollectIndices(statement, indices);
  }
  for (const TensorId t : compute.tensors.ids()) {
    const Tensor& tensor = compute.tensors[t];
    // What is read as an index stays in memory.
    if (tensor.role != TensorRole::kWorkspace || indices.contains(t)) continue;
    const bool in_memory = tuples.contains(t);
    plan.staged.emplace_back(tensor.name, in_memory || tensor.shape.size() > plan.row_loops.size());
  }
  NameRowLoops(plan);
  return plan;
}

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
  int64_t length = 1;
  for (const RowStatement& statement : plan.statements) length = std::max(length, statement.length);
  int64_t rows = 1;
  for (const int64_t extent : plan.row_extents) rows *= extent;
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
  const std::optional<RowPlan> plan = MakePlan(lowering);
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
