// Which iterators of different statements walk the same dimension of what is computed.
#pragma once

#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Iterators are one where a statement indexes a dimension by one that another statement wrote by
/// the other, and so on through all statements: with `t[i, j] = ...` and `y[p] sum= t[p, q]`, i is
/// p and j is q. What an iterator is called does not matter. A dimension has a number.
class SharedDimensions {
 public:
  static SharedDimensions Of(const Compute& compute);

  int DimensionOf(StatementId statement, VarId iterator) const;
  /// The one iterator of the statement that walks the dimension; none when several do.
  std::optional<VarId> IteratorOf(StatementId statement, int dimension) const;

 private:
  std::vector<std::vector<int>> dimensions_;  // by statement and iterator
};

}  // namespace tunec
