#include "schedule/access_analysis.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "support/check.h"

namespace tunec {

std::optional<int64_t> StorageStride(const Compute& compute, const Statement& statement,
                                     TensorId tensor, const std::vector<IndexExpr>& index,
                                     VarId iterator) {
  const IndexExpr offset =
      Simplify(StorageOffset(compute.tensors[tensor], index), statement.Intervals());
  const int64_t stride = offset.Coefficient(iterator);
  if ((offset - IndexExpr::Var(iterator) * stride).Uses(iterator)) return std::nullopt;
  return stride;
}

std::optional<VarId> ContiguousIterator(const Compute& compute, const Statement& statement,
                                        TensorId tensor, const std::vector<IndexExpr>& index) {
  for (size_t i = statement.iterators.size(); i-- > 0;) {
    const VarId iterator = IteratorVar(i);
    if (statement.iterators[iterator].extent > 1 &&
        StorageStride(compute, statement, tensor, index, iterator) == 1) {
      return iterator;
    }
  }
  return std::nullopt;
}

int64_t ReadsPerElement(const Statement& statement, const Read& read) {
  int64_t times = 1;
  for (const VarId i : statement.iterators.ids()) {
    const bool used = UsesIterator(read.index, i);
    if (!used) times *= statement.iterators[i].extent;
  }
  return times;
}

bool UsesIterator(const std::vector<IndexExpr>& index, VarId iterator) {
  return std::ranges::any_of(index, [&](const IndexExpr& i) { return i.Uses(iterator); });
}

std::optional<StatementId> OnlyReduction(const Compute& compute) {
  std::optional<StatementId> found;
  for (const StatementId s : compute.statements.ids()) {
    if (!compute.statements[s].reducer) continue;
    if (found) return std::nullopt;
    found = s;
  }
  return found;
}

StatementId FinalStatement(const Compute& compute) {
  for (size_t s = compute.statements.size(); s-- > 0;) {
    const StatementId id(s);
    for (const Write& write : compute.statements[id].writes) {
      if (compute.tensors[write.tensor].role == TensorRole::kOutput) return id;
    }
  }
  TUNEC_UNREACHABLE("compute {} writes no output", compute.name);
}

std::vector<VarId> InStorageOrder(const Compute& compute, const Statement& statement,
                                  const Write& write, const std::vector<VarId>& iterators) {
  constexpr int64_t kFar = int64_t{1} << 50;
  std::vector<std::pair<int64_t, VarId>> by_stride;
  for (const VarId iterator : iterators) {
    const auto stride = StorageStride(compute, statement, write.tensor, write.index, iterator);
    by_stride.emplace_back(stride && *stride != 0 ? std::abs(*stride) : kFar, iterator);
  }
  std::ranges::stable_sort(by_stride,
                           [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<VarId> order;
  for (const auto& [stride, iterator] : by_stride) order.push_back(iterator);
  return order;
}

std::vector<VarId> WrittenIterators(const Statement& statement) {
  std::vector<VarId> written;
  for (const VarId i : statement.iterators.ids()) {
    const bool used = std::ranges::any_of(
        statement.writes, [&](const Write& write) { return UsesIterator(write.index, i); });
    if (used) written.push_back(i);
  }
  return written;
}

std::vector<VarId> ReducedIterators(const Statement& statement) {
  const std::vector<VarId> written = WrittenIterators(statement);
  std::vector<VarId> reduced;
  for (const VarId i : statement.iterators.ids()) {
    if (std::ranges::find(written, i) == written.end()) {
      reduced.push_back(i);
    }
  }
  return reduced;
}

double ProductOfExtents(const Statement& statement) {
  double count = 1;
  for (const Iterator& iterator : statement.iterators) {
    count *= static_cast<double>(iterator.extent);
  }
  return count;
}

}  // namespace tunec
