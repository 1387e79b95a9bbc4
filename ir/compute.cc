#include "ir/compute.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "ir/array.h"
#include "support/check.h"
#include "support/random.h"

namespace tunec {
namespace {

IndexExpr RowMajorOffset(const std::vector<int64_t>& shape, const std::vector<IndexExpr>& index) {
  IndexExpr offset;
  for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + index[d];
  return offset;
}

template <class Id, class Element>
std::optional<Id> FindByName(const IdVector<Id, Element>& elements, std::string_view name) {
  for (const Id id : elements.ids()) {
    if (elements[id].name == name) return id;
  }
  return std::nullopt;
}

double OperationsIn(const Expr& expr) {
  double count = 0;
  Visit(expr, [&](const Expr& node) {
    if (node.kind() != ExprKind::kApply) return;
    count += node.Is(ScalarOp::kFma) ? 2 : 1;
  });
  return count;
}

double OperationsIn(const std::vector<Expr>& exprs) {
  double count = 0;
  for (const Expr& expr : exprs) count += OperationsIn(expr);
  return count;
}

bool IsArgument(TensorRole role) {
  return role == TensorRole::kInput || role == TensorRole::kOutput || role == TensorRole::kWeight;
}

// Collects the iterators in `index` and in the indices of the reads that load parts of it.
void CollectIterators(const Statement& statement, const std::vector<IndexExpr>& index,
                      std::set<VarId>& into) {
  for (const IndexExpr& part : index) {
    std::vector<VarId> vars;
    part.CollectVars(vars);
    into.insert(vars.begin(), vars.end());
    // A loaded index depends on the iterators in the index of the read that loads it.
    RenumberLoaded(part, [&](int slot) {
      CollectIterators(statement, statement.reads[static_cast<size_t>(slot)].index, into);
      return slot;
    });
  }
}

// Estimates the number of elements that one access touches: one element for each combination of
// values of the iterators in its index.
double ElementsTouched(const Statement& statement, const std::vector<IndexExpr>& index) {
  std::set<VarId> iterators;
  CollectIterators(statement, index, iterators);
  double touched = 1;
  for (const VarId iterator : iterators)
    touched *= static_cast<double>(statement.iterators[iterator].extent);
  return touched;
}

// Estimates the number of elements that the Compute touches in each tensor.
IdVector<TensorId, double> ElementsTouched(const Compute& compute) {
  IdVector<TensorId, double> touched(compute.tensors.size());
  for (const Statement& statement : compute.statements) {
    for (const Read& read : statement.reads)
      touched[read.tensor] += ElementsTouched(statement, read.index);
    for (const Write& write : statement.writes)
      touched[write.tensor] += ElementsTouched(statement, write.index);
  }
  for (const TensorId t : touched.ids())
    touched[t] = std::min(touched[t], static_cast<double>(ElementCount(compute.tensors[t].shape)));
  return touched;
}

/// Conditions of a domain and all iterators in them. No other condition has one of the iterators.
struct ConditionGroup {
  std::set<VarId> iterators;
  std::vector<IndexExpr> conditions;
};

std::vector<ConditionGroup> GroupConditions(const Statement& statement) {
  std::vector<ConditionGroup> groups;
  for (const IndexExpr& condition : statement.domain) {
    ConditionGroup joined{.iterators = {}, .conditions = {condition}};
    CollectIterators(statement, joined.conditions, joined.iterators);
    std::erase_if(groups, [&](ConditionGroup& group) {
      const auto is_joined = [&](VarId iterator) { return joined.iterators.contains(iterator); };
      if (std::ranges::none_of(group.iterators, is_joined)) return false;
      joined.iterators.merge(group.iterators);
      std::ranges::move(group.conditions, std::back_inserter(joined.conditions));
      return true;
    });
    groups.push_back(std::move(joined));
  }
  return groups;
}

// Returns the number of combinations of values of the group's iterators that satisfy all of the
// group's conditions. The number is an estimate from random combinations if there are too many.
double CountPoints(const Statement& statement, const ConditionGroup& group) {
  constexpr int64_t kMostVisited = 1 << 14;
  double all = 1;
  for (const VarId iterator : group.iterators)
    all *= static_cast<double>(statement.iterators[iterator].extent);
  if (all == 0) return 0;
  const bool exact = all <= kMostVisited;
  const int64_t visited = exact ? static_cast<int64_t>(all) : kMostVisited;
  Random random(0);
  std::vector<int64_t> point(statement.iterators.size());
  const auto holds = [&](const IndexExpr& condition) { return Evaluate(condition, point) >= 0; };
  int64_t inside = 0;
  for (int64_t n = 0; n < visited; ++n) {
    int64_t rest = n;
    for (const VarId iterator : group.iterators) {
      const int64_t extent = statement.iterators[iterator].extent;
      point[iterator.index()] =
          exact ? rest % extent : static_cast<int64_t>(random.Below(static_cast<uint64_t>(extent)));
      rest /= extent;
    }
    inside += std::ranges::all_of(group.conditions, holds) ? 1 : 0;
  }
  return all * static_cast<double>(inside) / static_cast<double>(visited);
}

}  // namespace

int64_t StorageElements(const Tensor& tensor) {
  return ElementCount(tensor.layout.IsRowMajor() ? tensor.shape : tensor.layout.shape);
}

int64_t StorageBytes(const Tensor& tensor) {
  return StorageElements(tensor) * static_cast<int64_t>(SizeOf(tensor.type));
}

IndexExpr StorageOffset(const Tensor& tensor, const std::vector<IndexExpr>& logical) {
  TUNEC_CHECK(logical.size() == tensor.shape.size(), "{} has {} dimensions, the index {}",
              tensor.name, tensor.shape.size(), logical.size());
  if (tensor.layout.IsRowMajor()) return RowMajorOffset(tensor.shape, logical);
  // Simplifies over the logical dimensions first, because their ranges are known.
  const IntervalOf ranges = [&](VarId d) { return Interval{0, tensor.shape[d.index()] - 1}; };
  const IndexExpr offset = Simplify(RowMajorOffset(tensor.layout.shape, tensor.layout.map), ranges);
  return Substitute(offset, std::span<const IndexExpr>(logical));
}

std::vector<std::string> Statement::IteratorNames() const {
  std::vector<std::string> names;
  for (const Iterator& it : iterators) names.push_back(it.name);
  return names;
}

IntervalOf Statement::Intervals() const {
  IdVector<VarId, int64_t> extents;
  for (const Iterator& it : iterators) extents.push_back(it.extent);
  return [extents = std::move(extents)](VarId v) {
    return extents.contains(v) ? Interval{0, extents[v] - 1} : kUnknownInterval;
  };
}

std::optional<TensorId> Compute::FindTensor(std::string_view tensor_name) const {
  return FindByName(tensors, tensor_name);
}

std::optional<StatementId> Compute::FindStatement(std::string_view statement_name) const {
  return FindByName(statements, statement_name);
}

double CountInstances(const Statement& statement) {
  double count = 1;
  std::set<VarId> conditional;
  for (const ConditionGroup& group : GroupConditions(statement)) {
    count *= CountPoints(statement, group);
    conditional.insert(group.iterators.begin(), group.iterators.end());
  }
  for (const VarId iterator : statement.iterators.ids()) {
    if (!conditional.contains(iterator))
      count *= static_cast<double>(statement.iterators[iterator].extent);
  }
  return count;
}

Work CountWork(const Compute& compute) {
  Work work;
  for (const Statement& statement : compute.statements) {
    double operations = OperationsIn(statement.values);
    if (statement.reducer) operations += OperationsIn(statement.reducer->combine);
    work.flops += operations * CountInstances(statement);
  }
  const IdVector<TensorId, double> touched = ElementsTouched(compute);
  for (const TensorId t : touched.ids()) {
    const Tensor& tensor = compute.tensors[t];
    if (IsArgument(tensor.role))
      work.bytes += touched[t] * static_cast<double>(SizeOf(tensor.type));
  }
  return work;
}

}  // namespace tunec
