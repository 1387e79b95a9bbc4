// Functions that make the stores of a loop nest from a statement.
#pragma once

#include <functional>
#include <vector>

#include "ir/loop_nest.h"
#include "polyhedral/effects.h"

namespace tunec {

/// The properties of the position at which a store is made.
struct StoreSite {
  IntervalOf ranges;  // ranges of the tree's loops
  std::function<IndexExpr(const IndexExpr&)>
      to_nest;  // rewrites an expression over the tree's loops as one over the nest's variables
  bool non_temporal = false;  // stores at this position bypass the caches
};

/// Returns the statement's reads, writes and values with the iterators replaced by `inverse`, which
/// expresses the iterators by loops. Conditions of guards and of `holds` are removed if the ranges
/// of the loops prove them.
Store MakeStore(const Statement& statement, const std::vector<IndexExpr>& inverse,
                const StoreSite& site);

/// Returns the stores of a statement with conditional writes (effects.h), one after another, each
/// with the reads that it needs. If the ranges do not decide a write's conditions, the store is
/// inside an If. Writes with a condition that the ranges disprove are omitted.
Body MakeConditionalStores(const Statement& statement, const Effects& effects,
                           const std::vector<IndexExpr>& inverse, const StoreSite& site);

}  // namespace tunec
