#include "polyhedral/access.h"

#include <algorithm>
#include <iterator>

#include "polyhedral/effects.h"

namespace tunec {
namespace {

TensorId HomeOf(const Tensors& tensors, TensorId tensor) {
  return tensors[tensor].alias.value_or(tensor);
}

class StorageReader {
 public:
  StorageReader(const Tensors& tensors, TensorId home) : tensors_(tensors), storage_{.home = home} {
    linear_ = std::ranges::any_of(tensors, [&](const Tensor& t) { return t.alias == home; });
    storage_.extents =
        linear_ ? std::vector<int64_t>{StorageElements(tensors[home])} : tensors[home].shape;
  }

  void Collect(StatementId id, const Statement& statement, const Effects& effects) {
    for (size_t r = 0; r < statement.reads.size(); ++r) {
      const Read& read = statement.reads[r];
      if (HomeOf(tensors_, read.tensor) != storage_.home) continue;
      for (const ReadUse& use : effects.needed[r]) {
        Access access{.statement = id,
                      .index = IndexOf(read.tensor, read.index),
                      .guard = use.when,
                      .turn = use.write,
                      .reads = true};
        if (read.guard) {
          std::ranges::copy(read.guard->nonnegative, std::back_inserter(access.guard));
        }
        storage_.accesses.push_back(std::move(access));
      }
    }
    for (size_t w = 0; w < statement.writes.size(); ++w) {
      const Write& write = statement.writes[w];
      if (HomeOf(tensors_, write.tensor) != storage_.home) continue;
      const bool certain = std::ranges::none_of(write.index, &IndexExpr::UsesLoaded) &&
                           std::ranges::none_of(statement.domain, &IndexExpr::UsesLoaded);
      storage_.accesses.push_back({.statement = id,
                                   .index = IndexOf(write.tensor, write.index),
                                   .guard = effects.writes[w].when,
                                   .turn = w,
                                   .reads = statement.reducer.has_value(),
                                   .writes = true,
                                   .replaces = certain && !statement.reducer});
    }
  }

  WrittenStorage Take() { return std::move(storage_); }

 private:
  std::vector<IndexExpr> IndexOf(TensorId tensor, const std::vector<IndexExpr>& logical) const {
    if (!linear_) return logical;
    return {StorageOffset(tensors_[tensor], logical)};
  }

  const Tensors& tensors_;
  bool linear_ = false;  // another tensor shares the storage, so the index is the offset
  WrittenStorage storage_;
};

}  // namespace

std::vector<WrittenStorage> WrittenStorages(const Tensors& tensors, const Statements& statements) {
  IdVector<StatementId, Effects> effects;
  for (const Statement& statement : statements) effects.push_back(EffectsOf(tensors, statement));
  std::vector<WrittenStorage> storages;
  for (const TensorId t : tensors.ids()) {
    if (tensors[t].alias) continue;
    StorageReader reader(tensors, t);
    for (const StatementId s : statements.ids()) {
      reader.Collect(s, statements[s], effects[s]);
    }
    WrittenStorage storage = reader.Take();
    if (std::ranges::any_of(storage.accesses, &Access::writes)) {
      storages.push_back(std::move(storage));
    }
  }
  return storages;
}

bool IsReorderable(const Tensors& tensors, const Statement& statement) {
  if (!statement.reducer || !statement.reducer->reorderable) return false;
  // Two values of a tuple in one tensor may be one element, whose combinations have an order.
  for (size_t w = 1; w < statement.writes.size(); ++w) {
    for (size_t other = 0; other < w; ++other) {
      if (HomeOf(tensors, statement.writes[w].tensor) ==
          HomeOf(tensors, statement.writes[other].tensor))
        return false;
    }
  }
  return std::ranges::none_of(statement.reads, [&](const Read& read) {
    return std::ranges::any_of(statement.writes, [&](const Write& write) {
      return HomeOf(tensors, read.tensor) == HomeOf(tensors, write.tensor);
    });
  });
}

}  // namespace tunec
