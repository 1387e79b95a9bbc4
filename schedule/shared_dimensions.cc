#include "schedule/shared_dimensions.h"

#include <algorithm>
#include <numeric>

namespace tunec {
namespace {

// Numbers that can be made one.
class UnionFind {
 public:
  explicit UnionFind(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int Find(int number) const {
    while (parent_[number] != number) number = parent_[number];
    return number;
  }
  void Join(int a, int b) { parent_[std::max(Find(a), Find(b))] = std::min(Find(a), Find(b)); }

 private:
  std::vector<int> parent_;
};

}  // namespace

SharedDimensions SharedDimensions::Of(const Compute& compute) {
  std::vector<int> first;  // number of each statement's first iterator
  int count = 0;
  for (const Statement& statement : compute.statements) {
    first.push_back(count);
    count += static_cast<int>(statement.iterators.size());
  }
  UnionFind numbers(count);
  const auto join = [&](size_t writer, const Write& write, size_t other,
                        const std::vector<IndexExpr>& index) {
    for (size_t d = 0; d < index.size(); ++d) {
      const std::optional<VarId> written = write.index[d].AsVar();
      const std::optional<VarId> used = index[d].AsVar();
      if (written && used) numbers.Join(first[writer] + *written, first[other] + *used);
    }
  };
  for (size_t w = 0; w < compute.statements.size(); ++w) {
    for (const Write& write : compute.statements[w].writes) {
      for (size_t s = 0; s < compute.statements.size(); ++s) {
        for (const Read& read : compute.statements[s].reads) {
          if (read.tensor == write.tensor) join(w, write, s, read.index);
        }
        for (const Write& again : compute.statements[s].writes) {
          if (again.tensor == write.tensor) join(w, write, s, again.index);
        }
      }
    }
  }
  SharedDimensions shared;
  for (size_t s = 0; s < compute.statements.size(); ++s) {
    std::vector<int>& of_statement = shared.dimensions_.emplace_back();
    for (size_t v = 0; v < compute.statements[s].iterators.size(); ++v) {
      of_statement.push_back(numbers.Find(first[s] + static_cast<int>(v)));
    }
  }
  return shared;
}

int SharedDimensions::DimensionOf(StatementId statement, VarId iterator) const {
  return dimensions_[statement][iterator];
}

std::optional<VarId> SharedDimensions::IteratorOf(StatementId statement, int dimension) const {
  const std::vector<int>& own = dimensions_[statement];
  const auto found = std::ranges::find(own, dimension);
  if (found == own.end() || std::ranges::count(own, dimension) > 1) return std::nullopt;
  return static_cast<VarId>(found - own.begin());
}

}  // namespace tunec
