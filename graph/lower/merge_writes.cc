#include "graph/lower/merge_writes.h"

#include <algorithm>
#include <optional>

namespace tunec::lower {
namespace {

constexpr int kMostNodes = 1024;  // greatest number of expression nodes of a merged statement

bool IsElementwise(const Statement& statement) { return !statement.reducer; }

bool WritesOutputs(const Compute& compute, const Statement& statement) {
  return std::ranges::all_of(statement.writes, [&](const Write& write) {
    return compute.tensors[write.tensor].role == TensorRole::kOutput;
  });
}

int CountNodes(const Statement& statement) {
  int nodes = 0;
  for (const Expr& value : statement.values) Visit(value, [&](const Expr&) { ++nodes; });
  return nodes;
}

std::vector<int64_t> Extents(const Statement& statement) {
  std::vector<int64_t> extents;
  for (const Iterator& iterator : statement.iterators) extents.push_back(iterator.extent);
  return extents;
}

// Returns the position of the first write of `statement` to the tensor of `read`, or nullopt if
// `statement` does not write the tensor.
std::optional<size_t> WriteOf(const Statement& statement, const Read& read) {
  for (size_t k = 0; k < statement.writes.size(); ++k)
    if (statement.writes[k].tensor == read.tensor) return k;
  return std::nullopt;
}

bool Touches(const Statement& statement, TensorId tensor) {
  const auto reads = [&](const Read& read) { return read.tensor == tensor; };
  const auto writes = [&](const Write& write) { return write.tensor == tensor; };
  return std::ranges::any_of(statement.reads, reads) ||
         std::ranges::any_of(statement.writes, writes);
}

bool LoadsIndex(const Statement& statement, int slot) {
  bool loads = false;
  const auto look = [&](const IndexExpr& index) {
    RenumberLoaded(index, [&](int used) { return loads |= used == slot, used; });
  };
  for (const Read& read : statement.reads) {
    std::ranges::for_each(read.index, look);
    if (read.guard) std::ranges::for_each(read.guard->nonnegative, look);
  }
  for (const Write& write : statement.writes) std::ranges::for_each(write.index, look);
  for (const Expr& value : statement.values)
    TransformIndices(value, [&](const IndexExpr& index) { return look(index), index; });
  return loads;
}

// Returns whether `next` can run at each point directly after `first`. Both must have equal extents
// and domains. From a tensor that `first` writes, `next` must read only the element just written,
// without a guard and not as an index. `next` must not write a tensor that `first` reads or writes.
bool CanFollow(const Statement& first, const Statement& next) {
  if (Extents(first) != Extents(next) || first.domain != next.domain) return false;
  for (const Write& write : next.writes)
    if (Touches(first, write.tensor)) return false;
  for (size_t slot = 0; slot < next.reads.size(); ++slot) {
    const Read& read = next.reads[slot];
    const std::optional<size_t> made = WriteOf(first, read);
    if (!made) continue;
    const bool same = read.index == first.writes[*made].index && !read.guard;
    if (!same || LoadsIndex(next, static_cast<int>(slot))) return false;
  }
  return true;
}

void Append(Statement& first, const Statement& next) {
  std::vector<Expr> known(next.reads.size());  // the value of each read of `next`
  std::vector<int> renumbered(next.reads.size(), -1);
  const auto renumber = [&](const IndexExpr& index) {
    return RenumberLoaded(index, [&](int slot) { return renumbered[slot]; });
  };
  for (size_t slot = 0; slot < next.reads.size(); ++slot) {
    Read read = next.reads[slot];
    if (const std::optional<size_t> made = WriteOf(first, read)) {
      known[slot] = first.values[*made];
      continue;
    }
    for (IndexExpr& index : read.index) index = renumber(index);
    if (read.guard)
      for (IndexExpr& condition : read.guard->nonnegative) condition = renumber(condition);
    const auto at = std::ranges::find(first.reads, read);
    renumbered[slot] = static_cast<int>(at - first.reads.begin());
    if (at == first.reads.end()) first.reads.push_back(std::move(read));
  }
  const auto replacement = [&](int slot, DataType type) {
    return renumbered[slot] < 0 ? known[slot] : Expr::Read(renumbered[slot], type);
  };
  for (const Expr& value : next.values)
    first.values.push_back(ReplaceReads(TransformIndices(value, renumber), replacement));
  for (Write write : next.writes) {
    for (IndexExpr& index : write.index) index = renumber(index);
    first.writes.push_back(std::move(write));
  }
}

}  // namespace

Compute MergeWrites(const Compute& compute) {
  if (!std::ranges::all_of(compute.statements, IsElementwise)) return compute;
  Compute result = compute;
  result.statements.clear();
  for (const Statement& statement : compute.statements) {
    if (!result.statements.empty() && WritesOutputs(compute, statement) &&
        WritesOutputs(compute, result.statements.back()) &&
        CanFollow(result.statements.back(), statement)) {
      Statement merged = result.statements.back();
      Append(merged, statement);
      if (CountNodes(merged) <= kMostNodes) {
        result.statements.back() = std::move(merged);
        continue;
      }
    }
    result.statements.push_back(statement);
  }
  return result;
}

}  // namespace tunec::lower
