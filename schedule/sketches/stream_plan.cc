#include "schedule/sketches/stream_plan.h"

#include <algorithm>

#include "schedule/access_analysis.h"

namespace tunec {
namespace {

bool IsProduct(const Statement& statement) {
  if (!statement.reducer || statement.reducer->name != "sum" || statement.writes.size() != 1)
    return false;
  return statement.reads.size() == 2 && statement.values[0].Is(ScalarOp::kMul) &&
         statement.reducer->finalise.empty();
}

bool IsWorkspace(const Compute& compute, TensorId tensor) {
  return compute.tensors[tensor].role == TensorRole::kWorkspace;
}

const Iterator& IteratorOf(const Statement& statement, VarId iterator) {
  return statement.iterators[iterator];
}

// The operands of a product: a workspace that an earlier statement writes, and another tensor.
struct Operands {
  const Read* made = nullptr;
  const Read* given = nullptr;
};
std::optional<Operands> OperandsOf(const Compute& compute, const Statement& product) {
  Operands operands;
  for (const Read& read : product.reads)
    (IsWorkspace(compute, read.tensor) ? operands.made : operands.given) = &read;
  if (operands.made == nullptr || operands.given == nullptr) return std::nullopt;
  return operands;
}

// Returns the fraction of a box of iterations that is in the statement's domain. The box is over
// the iterators that the conditions use.
double VisitedShare(const Statement& statement) {
  Statement conditions{.name = statement.name};
  std::vector<IndexExpr> renumbered(statement.iterators.size());
  for (const VarId v : statement.iterators.ids()) {
    if (!UsesIterator(statement.domain, v)) continue;
    renumbered[v.index()] = IndexExpr::Var(conditions.iterators.push_back(statement.iterators[v]));
  }
  for (const IndexExpr& condition : statement.domain)
    conditions.domain.push_back(Substitute(condition, renumbered));
  return static_cast<double>(CountInstances(conditions)) / ProductOfExtents(conditions);
}

// Sets the dimensions of the first product, and `tasks`, `visited` and the fields about conditions.
// Returns false if the iterators do not fit flash attention.
bool AssignFirst(StreamPlan& plan) {
  const Statement& product = plan.statement(plan.first);
  const Statement& second = plan.statement(plan.last);
  const auto dimension = [&](VarId v) { return plan.shared.DimensionOf(plan.first, v); };
  const auto operands = OperandsOf(*plan.compute, product);
  if (!operands) return false;
  std::optional<VarId> row, column;
  std::vector<VarId> outer;
  for (const VarId v : WrittenIterators(product)) {
    const Iterator& iterator = IteratorOf(product, v);
    const auto in_second = plan.IteratorOf(plan.last, dimension(v));
    const bool summed = in_second && !UsesIterator(second.writes[0].index, *in_second);
    if (iterator.kind == IteratorKind::kSequential) {
      plan.chunk = dimension(v);
      plan.chunks = iterator.extent;
    } else if (summed && !UsesIterator(operands->made->index, v)) {
      column = v;
    } else {
      outer.push_back(v);
    }
  }
  for (const VarId v : outer)
    if (UsesIterator(operands->made->index, v) && !UsesIterator(operands->given->index, v)) row = v;
  const std::vector<VarId> reduced = ReducedIterators(product);
  if (!row || !column || reduced.size() != 1) return false;
  std::erase(outer, *row);
  for (const VarId v : outer) {
    plan.outer.push_back(dimension(v));
    plan.tasks *= IteratorOf(product, v).extent;
  }
  const auto take = [&](VarId v, int& number, int64_t& extent) {
    number = dimension(v);
    extent = IteratorOf(product, v).extent;
  };
  take(*row, plan.row, plan.rows);
  take(*column, plan.column, plan.columns);
  take(reduced[0], plan.depth, plan.depths);
  plan.partial_columns = UsesIterator(product.domain, *column);
  plan.skips_chunks = std::ranges::any_of(product.domain, [&](const IndexExpr& condition) {
    return !condition.Uses(*column) && !condition.IsConstant();
  });
  plan.bounded_columns = std::ranges::any_of(product.domain, [&](const IndexExpr& condition) {
    const auto used = [&](VarId v) { return condition.Uses(v); };
    return condition.Uses(*column) && std::ranges::any_of(outer, used);
  });
  plan.visited = VisitedShare(product);
  return !plan.outer.empty();
}

// Sets the columns of the second product. Returns false if this product has no such columns or does
// not use the rows.
bool AssignLast(StreamPlan& plan) {
  const Statement& product = plan.statement(plan.last);
  const auto operands = OperandsOf(*plan.compute, product);
  if (!operands || !plan.IteratorOf(plan.last, plan.row)) return false;
  bool found = false;
  for (const VarId v : WrittenIterators(product)) {
    const Iterator& iterator = IteratorOf(product, v);
    if (UsesIterator(operands->made->index, v) || !UsesIterator(operands->given->index, v))
      continue;
    const int dimension = plan.shared.DimensionOf(plan.last, v);
    if (std::ranges::find(plan.outer, dimension) != plan.outer.end()) continue;
    plan.width = dimension;
    plan.widths = iterator.extent;
    found = true;
  }
  return found;
}

}  // namespace

std::string StreamPlan::NameOf(int dimension) const {
  if (const auto iterator = IteratorOf(first, dimension)) {
    return statement(first).iterators[*iterator].name;
  }
  for (const StatementId s : compute->statements.ids()) {
    const auto iterator = IteratorOf(s, dimension);
    if (!iterator) continue;
    // The second product's loops over rows and columns are copies of the first product's loops,
    // with the same names. The step `compute_at` appends "_" to the name of another loop that has
    // such a name.
    std::string name = statement(s).iterators[*iterator].name;
    while (name == NameOf(row) || name == NameOf(column)) name += "_";
    return name;
  }
  return "";
}

std::optional<StreamPlan> MakeStreamPlan(const NamedCompute& lowering) {
  StreamPlan plan{.lowering = lowering.name,
                  .compute = std::make_shared<const Compute>(lowering.compute),
                  .shared = SharedDimensions::Of(lowering.compute)};
  std::vector<StatementId> products;
  for (const StatementId s : lowering.compute.statements.ids())
    if (IsProduct(lowering.compute.statements[s])) products.push_back(s);
  if (products.size() != 2) return std::nullopt;
  plan.first = products[0];
  plan.last = products[1];
  if (!AssignFirst(plan) || !AssignLast(plan)) return std::nullopt;
  return plan;
}

}  // namespace tunec
