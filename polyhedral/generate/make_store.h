// Functions that make the stores of a loop nest from one instance of a statement.
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
/// expresses them by loops. Conditions of guards and of `holds` are removed if the ranges of the
/// loops decide them.
Store MakeStore(const Statement& statement, const std::vector<IndexExpr>& inverse,
                const StoreSite& site);

/// Returns the stores of a statement whose writes have conditions (effects.h), one after another,
/// each with the reads that it needs. If the ranges do not decide a write's conditions, its store
/// is inside an If. Writes that never happen here are removed.
Body MakeConditionalStores(const Statement& statement, const Effects& effects,
                           const std::vector<IndexExpr>& inverse, const StoreSite& site);

}  // namespace tunec
