// Which iterator of one statement is which of another. The tensors that both index say so; what an
// iterator is called does not matter.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// The iterator of `writer` that walks the dimension of its first tensor which `reader` reads by
/// `iterator` alone: with `t[i, j] = ...` and `y[p] sum= t[p, q]`, j for q.
std::optional<VarId> WrittenBy(const Statement& writer, const Statement& reader, VarId iterator);

/// What is known of an iterator that is only seen divided: floor(iterator / factor) is `value`.
struct Quotient {
  int64_t factor = 1;
  IndexExpr value;
};

/// The iterators of one statement, as expressions over those of another.
struct IteratorMap {
  std::map<VarId, IndexExpr> exact;
  std::map<VarId, Quotient> quotients;  // of others

  size_t size() const { return exact.size() + quotients.size(); }
  bool contains(VarId v) const { return exact.contains(v) || quotients.contains(v); }
};

/// The iterators of `partner` over those of `statement`, for instances that touch one element: with
/// `t[i, j] = ...` for the partner and `y[p] sum= t[p, 2*q]`, i is p and j is 2*q. Either writes
/// what the other indexes, or both read one tensor. Of several tensors the one that tells most
/// iterators, the first of equals. None where no tensor tells all that it is indexed by, but for
/// planes that a reduction chooses: of `y[p] sum= t[floor(r/2) + floor(r/5), p]` p is told.
std::optional<IteratorMap> RelateIterators(const Statement& partner, const Statement& statement);

/// The one of several statements that is related most to another.
struct ClosestRelation {
  StatementId partner;
  IteratorMap iterators;  // of the partner, over those of the statement
};

/// Of several partners the one that relates most iterators, the first of equals: a row's maximum is
/// related to the row only, its exponentials to every element. None where none is related.
std::optional<ClosestRelation> FindClosest(const Statements& statements, StatementId statement,
                                           const std::vector<StatementId>& partners);

/// The dimensions that all statements of a Compute walk. Iterators are one where a statement
/// indexes a dimension by one that another statement wrote by the other, and so on through all
/// statements: with `t[i, j] = ...` and `y[p] sum= t[p, q]`, i is p and j is q. Reading the same
/// tensor does not make iterators one: queries and keys may be the same array, walked by rows and
/// by columns. A dimension has a number.
class SharedDimensions {
 public:
  static SharedDimensions Of(const Compute& compute);

  int DimensionOf(StatementId statement, VarId iterator) const;
  /// The one iterator of the statement that walks the dimension; none when several do.
  std::optional<VarId> IteratorOf(StatementId statement, int dimension) const;

 private:
  IdVector<StatementId, std::vector<int>> dimensions_;  // by statement and iterator
};

}  // namespace tunec
