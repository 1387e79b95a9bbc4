// Makes the stores of a loop nest from one instance of a statement.
#pragma once

#include <functional>
#include <vector>

#include "ir/loop_nest.h"
#include "polyhedral/effects.h"

namespace tunec {

/// Facts known at the position of the store.
struct StoreSite {
  IntervalOf ranges;                                   // ranges of the tree's loops
  std::function<IndexExpr(const IndexExpr&)> to_nest;  // rewrites loops as the nest's variables
  bool non_temporal = false;                           // its stores bypass the caches
};

/// Returns the statement's reads, writes and values with its iterators replaced by `inverse`, which
/// is over loops. Conditions of guards and of `holds` are removed if the ranges decide them.
Store MakeStore(const Statement& statement, const std::vector<IndexExpr>& inverse,
                const StoreSite& site);

/// Returns the stores of a statement whose writes have conditions (effects.h), one after another,
/// each with the reads that it needs. A store is inside an If where the ranges do not decide its
/// conditions. Writes that never happen here are removed.
Body MakeConditionalStores(const Statement& statement, const Effects& effects,
                           const std::vector<IndexExpr>& inverse, const StoreSite& site);

}  // namespace tunec
