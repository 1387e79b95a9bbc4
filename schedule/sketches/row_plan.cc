#include "schedule/sketches/row_plan.h"

#include <algorithm>
#include <set>

#include "polyhedral/schedule_tree.h"
#include "schedule/access_analysis.h"
#include "schedule/relations.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// Returns the reduced iterator along which a read of the statement is contiguous. Returns nothing
// if there is none.
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

// Adds the reduction to the plan. Returns false if no read is contiguous along a reduced iterator.
bool AddReduction(const Compute& compute, const Statement& statement, RowReductions reductions,
                  RowPlan& plan) {
  const std::optional<VarId> along = ReducedAlong(compute, statement);
  if (!along) return false;
  RowStatement row{.name = statement.name,
                   .reduces = true,
                   .split = reductions == RowReductions::kSplit && CanSplit(statement),
                   .reorderable = statement.reducer->reorderable,
                   .walks = along,
                   .along = statement.iterators[*along].name,
                   .length = statement.iterators[*along].extent};
  plan.statements.push_back(std::move(row));
  return true;
}

// Sets the pivot and the rows, which are the pivot's written iterators. Returns false if there are
// none, or if an index of the write is neither an iterator nor constant.
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

// Adds an elementwise statement to the plan.
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

// Adds the tensors whose elements the statement uses as indices to `indices`.
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

// Returns true if the pivot reads a workspace tensor without using all row iterators in the index.
// Several rows share such a tensor, so it cannot be computed for a single row.
bool ReadsSharedWork(const Compute& compute, const Statement& pivot) {
  const std::vector<VarId> rows = WrittenIterators(pivot);
  return std::ranges::any_of(pivot.reads, [&](const Read& read) {
    return compute.tensors[read.tensor].role == TensorRole::kWorkspace &&
           std::ranges::any_of(rows, [&](VarId row) { return !UsesIterator(read.index, row); });
  });
}

// Returns true if the statement reduces along a dimension of the rows. Such a reduction needs
// values of several rows.
bool SumsOverRows(const Statement& statement, StatementId id, const std::vector<int>& rows,
                  const SharedDimensions& dimensions) {
  return std::ranges::any_of(ReducedIterators(statement), [&](VarId reduced) {
    return std::ranges::find(rows, dimensions.DimensionOf(id, reduced)) != rows.end();
  });
}

// Returns the plan's Compute with its reductions split. The factor is arbitrary, because it does
// not affect the relations between iterators. A reduction that cannot be split is unchanged; its
// schedule is rejected later.
Compute WithSplits(const RowPlan& plan) {
  Compute compute = *plan.compute;
  for (const RowStatement& row : plan.statements) {
    if (!row.split) continue;
    const ReduceSplitStep step{row.name, row.along, 2, ReduceSplitStep::Parallel::kInner};
    if (Result<Compute> split = Apply(compute, step)) compute = *std::move(split);
  }
  return compute;
}

// Returns the parts of all statements, in the order in which they join the loops of the first part.
std::vector<std::string> PartsOf(const RowPlan& plan) {
  std::vector<std::string> parts = {PivotOf(plan)};
  for (const RowStatement& row : plan.statements) {
    for (const std::string& part : PartsOf(row)) {
      if (part != parts.front()) parts.push_back(part);
    }
  }
  return parts;
}

int64_t CountLongAxes(const std::vector<int64_t>& shape) {
  return std::ranges::count_if(shape, [](int64_t extent) { return extent > 1; });
}

// Sets the names of the loops along a row, except those of split reductions. A loop that joins may
// get the name of an earlier statement's loop.
void NameRowLoops(RowPlan& plan) {
  const auto names = JoinedLoopNames(WithSplits(plan), PartsOf(plan));
  for (RowStatement& row : plan.statements) {
    if (!row.split && row.walks) row.along = names.at(row.name)[*row.walks];
  }
}

}  // namespace

std::vector<std::string> PartsOf(const RowStatement& statement) {
  const std::string& name = statement.name;
  if (statement.split) return {name + ".part", name + ".part.init", name, name + ".init"};
  if (statement.reduces) return {name, name + ".init"};
  return {name};
}

std::map<std::string, IdVector<VarId, std::string>> JoinedLoopNames(
    const Compute& compute, const std::vector<std::string>& parts) {
  const Statements statements = ExpandReductions(compute);
  std::map<std::string, IdVector<VarId, std::string>> names;
  for (const Statement& statement : statements) {
    IdVector<VarId, std::string>& own = names[statement.name];
    for (const Iterator& iterator : statement.iterators) own.push_back(iterator.name);
  }
  std::set<StatementId> joined;
  for (const std::string& part : parts) {
    const auto found = std::ranges::find(statements, part, &Statement::name);
    if (found == statements.end()) continue;
    const StatementId id = statements.id_of(found);
    const auto closest = FindClosest(statements, id, {joined.begin(), joined.end()});
    joined.insert(id);
    if (!closest) continue;
    for (const auto& [iterator, value] : closest->iterators.exact) {
      const auto own = value.AsVar();
      if (own) names[part][*own] = names[statements[closest->partner].name][iterator];
    }
  }
  return names;
}

std::string PivotOf(const RowPlan& plan) {
  const auto pivot = std::ranges::find(plan.statements, plan.pivot, &RowStatement::name);
  return PartsOf(*pivot).front();
}

std::optional<RowPlan> MakeRowPlan(const NamedCompute& lowering, RowReductions reductions) {
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
  std::set<TensorId> tuples;  // tensors that one reduction writes together
  for (const StatementId s : compute.statements.ids()) {
    const Statement& statement = compute.statements[s];
    if (statement.reducer) {
      if (SumsOverRows(statement, s, rows, dimensions)) return std::nullopt;
      if (!AddReduction(compute, statement, reductions, plan)) return std::nullopt;
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
    // A tensor whose elements are indices stays in memory.
    if (tensor.role != TensorRole::kWorkspace || indices.contains(t)) continue;
    const bool in_memory = tuples.contains(t);
    plan.staged.emplace_back(tensor.name, in_memory || tensor.shape.size() > plan.row_loops.size());
  }
  NameRowLoops(plan);
  return plan;
}

bool HasElementsOfRow(const RowPlan& plan, const Tensor& tensor) {
  return CountLongAxes(tensor.shape) > CountLongAxes(plan.row_extents);
}

int64_t CountRows(const RowPlan& plan) {
  int64_t rows = 1;
  for (const int64_t extent : plan.row_extents) rows *= extent;
  return rows;
}

int64_t LongestRow(const RowPlan& plan) {
  int64_t length = 1;
  for (const RowStatement& statement : plan.statements) length = std::max(length, statement.length);
  return length;
}

}  // namespace tunec
