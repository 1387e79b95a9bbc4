#include "polyhedral/conditions_of_readers.h"

#include <algorithm>
#include <map>

namespace tunec {
namespace {

using Places = std::map<VarId, size_t>;  // the dimension of which an iterator is the index

Places PlacesOf(const Write& write) {
  Places places;
  for (size_t d = 0; d < write.index.size(); ++d)
    if (const std::optional<VarId> v = write.index[d].AsVar()) places.emplace(*v, d);
  return places;
}

bool IsKnown(const IndexExpr& condition, const Places& places) {
  std::vector<VarId> used;
  condition.CollectVars(used);
  return !condition.UsesLoaded() &&
         std::ranges::all_of(used, [&](VarId v) { return places.contains(v); });
}

// Returns whether intervals prove that the condition on an element is true wherever the statement
// reads the element.
bool Implies(const Statement& reader, const Read& read, const Places& places,
             const IndexExpr& condition) {
  if (std::ranges::any_of(read.index, &IndexExpr::UsesLoaded)) return false;
  const IntervalOf within = [&](VarId v) { return Interval{0, reader.iterators[v].extent - 1}; };
  const IndexExpr wanted = Substitute(condition, [&](VarId v) { return read.index[places.at(v)]; });
  const auto suffices = [&](const IndexExpr& known) {
    return BoundsOf(Simplify(wanted - known, within), within).lo >= 0;
  };
  if (suffices(0) || std::ranges::any_of(reader.domain, suffices)) return true;
  return read.guard && std::ranges::any_of(read.guard->nonnegative, suffices);
}

bool AllReadersImply(const Compute& compute, const Write& write, const Places& places,
                     const IndexExpr& condition) {
  for (const Statement& reader : compute.statements) {
    for (const Read& read : reader.reads)
      if (read.tensor == write.tensor && !Implies(reader, read, places, condition)) return false;
  }
  return true;
}

// Returns whether only this statement writes the elements, and no caller can see them.
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
    const Places places = PlacesOf(write);
    const bool own = !conditions.empty() && IsOwn(compute, write);
    std::erase_if(conditions, [&](const IndexExpr& condition) {
      return !own || !IsKnown(condition, places) ||
             !AllReadersImply(compute, write, places, condition);
    });
  }
  return conditions;
}

}  // namespace tunec
