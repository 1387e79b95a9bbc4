#include "polyhedral/conditions_of_readers.h"

#include <algorithm>
#include <map>

namespace tunec {
namespace {

using Dimensions = std::map<VarId, size_t>;  // the dimension that an iterator indexes

Dimensions DimensionsOf(const Write& write) {
  Dimensions dimensions;
  for (size_t d = 0; d < write.index.size(); ++d)
    if (const std::optional<VarId> v = write.index[d].AsVar()) dimensions.emplace(*v, d);
  return dimensions;
}

bool IsKnown(const IndexExpr& condition, const Dimensions& dimensions) {
  std::vector<VarId> used;
  condition.CollectVars(used);
  return !condition.UsesLoaded() &&
         std::ranges::all_of(used, [&](VarId v) { return dimensions.contains(v); });
}

// Returns whether intervals prove that the condition is true for every element that `read`
// accesses.
bool Implies(const Statement& reader, const Read& read, const Dimensions& dimensions,
             const IndexExpr& condition) {
  if (std::ranges::any_of(read.index, &IndexExpr::UsesLoaded)) return false;
  const IntervalOf within = [&](VarId v) { return Interval{0, reader.iterators[v].extent - 1}; };
  const IndexExpr required =
      Substitute(condition, [&](VarId v) { return read.index[dimensions.at(v)]; });
  const auto suffices = [&](const IndexExpr& known) {
    return BoundsOf(Simplify(required - known, within), within).lo >= 0;
  };
  if (suffices(0) || std::ranges::any_of(reader.domain, suffices)) return true;
  return read.guard && std::ranges::any_of(read.guard->nonnegative, suffices);
}

bool AllReadersImply(const Compute& compute, const Write& write, const Dimensions& dimensions,
                     const IndexExpr& condition) {
  for (const Statement& reader : compute.statements) {
    for (const Read& read : reader.reads)
      if (read.tensor == write.tensor && !Implies(reader, read, dimensions, condition))
        return false;
  }
  return true;
}

// Returns whether the written tensor is a workspace that shares no storage and has no other write.
bool IsOwn(const Compute& compute, const Write& write) {
  const Tensor& tensor = compute.tensors[write.tensor];
  const auto shares = [&](const Tensor& other) { return other.alias == write.tensor; };
  if (tensor.role != TensorRole::kWorkspace || tensor.alias) return false;
  if (std::ranges::any_of(compute.tensors, shares)) return false;
  int writers = 0;
  for (const Statement& statement : compute.statements) {
    const auto same = [&](const Write& other) { return other.tensor == write.tensor; };
    writers += static_cast<int>(std::ranges::count_if(statement.writes, same));
  }
  return writers == 1;
}

}  // namespace

std::vector<IndexExpr> ConditionsOfReaders(const Compute& compute, const Statement& reduction) {
  std::vector<IndexExpr> conditions = reduction.domain;
  for (const Write& write : reduction.writes) {
    const Dimensions dimensions = DimensionsOf(write);
    const bool own = !conditions.empty() && IsOwn(compute, write);
    std::erase_if(conditions, [&](const IndexExpr& condition) {
      return !own || !IsKnown(condition, dimensions) ||
             !AllReadersImply(compute, write, dimensions, condition);
    });
  }
  return conditions;
}

}  // namespace tunec
