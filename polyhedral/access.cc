#include "polyhedral/access.h"

#include <algorithm>
#include <iterator>

#include "polyhedral/effects.h"

namespace tunec {
namespace {

TensorId HomeOf(const std::vector<Tensor>& tensors, TensorId tensor) {
  return tensors[tensor].alias.value_or(tensor);
}

class StorageReader {
 public:
  StorageReader(const std::vector<Tensor>& tensors, TensorId home)
      : tensors_(tensors), storage_{.home = home} {
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

  Storage Take() { return std::move(storage_); }

 private:
  std::vector<IndexExpr> IndexOf(TensorId tensor, const std::vector<IndexExpr>& logical) const {
    if (!linear_) return logical;
    return {StorageOffset(tensors_[tensor], logical)};
  }

  const std::vector<Tensor>& tensors_;
  bool linear_ = false;  // tensors with other shapes share it: indexed by offset
  Storage storage_;
};

}  // namespace

std::vector<Storage> WrittenStorages(const std::vector<Tensor>& tensors,
                                     const std::vector<Statement>& statements) {
  std::vector<Effects> effects;
  for (const Statement& statement : statements) effects.push_back(EffectsOf(tensors, statement));
  std::vector<Storage> storages;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].alias) continue;
    StorageReader reader(tensors, static_cast<TensorId>(t));
    for (size_t s = 0; s < statements.size(); ++s) {
      reader.Collect(static_cast<StatementId>(s), statements[s], effects[s]);
    }
    Storage storage = reader.Take();
    if (std::ranges::any_of(storage.accesses, &Access::writes)) {
      storages.push_back(std::move(storage));
    }
  }
  return storages;
}

bool IsReorderable(const std::vector<Tensor>& tensors, const Statement& statement) {
  if (!statement.reducer || !statement.reducer->reorderable) return false;
  return std::ranges::none_of(statement.reads, [&](const Read& read) {
    return std::ranges::any_of(statement.writes, [&](const Write& write) {
      return HomeOf(tensors, read.tensor) == HomeOf(tensors, write.tensor);
    });
  });
}

}  // namespace tunec
