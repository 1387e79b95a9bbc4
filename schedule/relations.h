// Relations between the iterators of statements. The relations follow from the indices of tensors,
// and do not depend on the names of iterators.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the iterator by which the first write of `writer` indexes the first dimension that
/// `reader` reads at `iterator` alone. Returns nothing without such a dimension or iterator. With
/// `t[i, j] = ...` and `y[p] sum= t[p, q]`, the iterator q of the reader gives j.
std::optional<VarId> WrittenBy(const Statement& writer, const Statement& reader, VarId iterator);

/// A relation that determines only a quotient of an iterator: floor(iterator / factor) is `value`.
struct Quotient {
  int64_t factor = 1;
  IndexExpr value;
};

/// The iterators of one statement that a relation determines, over those of a second statement.
struct IteratorMap {
  std::map<VarId, IndexExpr> exact;
  std::map<VarId, Quotient> quotients;  // iterators that are not in `exact`

  size_t size() const { return exact.size() + quotients.size(); }
  bool contains(VarId v) const { return exact.contains(v) || quotients.contains(v); }
};

/// Returns the iterators of `partner` over those of `statement`, for instances that touch the same
/// element. With `t[i, j] = ...` for the partner and `y[p] sum= t[p, 2*q]`, i is p and j is 2*q.
/// The two statements are related by a tensor that one writes and the other accesses, or that both
/// read. Of several tensors, the one that determines most iterators is used, and the first of equal
/// ones. Returns nothing if the indices of no tensor can be solved for the partner's iterators.
/// Planes that the partner's reduction selects are not solved: of a partner
/// `y[p] sum= t[floor(r/2) + floor(r/5), p]`, only p is determined.
std::optional<IteratorMap> RelateIterators(const Statement& partner, const Statement& statement);

/// A relation to the most closely related of several statements.
struct ClosestRelation {
  StatementId partner;
  IteratorMap iterators;  // iterators of the partner, over those of the statement
};

/// Returns the partner of whose iterators the relation determines most, and the first of equal
/// partners. Returns nothing if no partner is related.
std::optional<ClosestRelation> FindClosest(const Statements& statements, StatementId statement,
                                           const std::vector<StatementId>& partners);

/// The dimensions that the statements of a Compute share. Two iterators walk one dimension if each
/// alone indexes the same dimension of a tensor, one in a write, the other in a read or a write.
/// This relation is transitive. With `t[i, j] = ...` and `y[p] sum= t[p, q]`, i and p walk one
/// dimension, and so do j and q. Two reads of one tensor do not relate iterators, because queries
/// and keys may be the same array, walked by rows and by columns. Each dimension has a number.
class SharedDimensions {
 public:
  static SharedDimensions Of(const Compute& compute);

  int DimensionOf(StatementId statement, VarId iterator) const;
  /// Returns the only iterator of the statement that walks the dimension. Returns nothing if none
  /// or several do.
  std::optional<VarId> IteratorOf(StatementId statement, int dimension) const;

 private:
  IdVector<StatementId, std::vector<int>> dimensions_;  // by statement and iterator
};

}  // namespace tunec
