// One instance of a statement as stores of a loop nest.
#pragma once

#include <functional>
#include <vector>

#include "ir/loop_nest.h"
#include "polyhedral/effects.h"

namespace tunec {

/// What is known where the store stands.
struct StoreSite {
  IntervalOf ranges;                                   // of the tree's loops
  std::function<IndexExpr(const IndexExpr&)> to_nest;  // over loops -> over the nest's variables
  bool non_temporal = false;                           // its stores bypass the caches
};

/// The statement's reads, writes and values with its iterators replaced by `inverse`, which is
/// over loops. Conditions of guards and of `holds` that the ranges decide are gone.
Store MakeStore(const Statement& statement, const std::vector<IndexExpr>& inverse,
                const StoreSite& site);

/// The same for a statement whose writes have conditions (effects.h): one store after the other,
/// each inside an If where the ranges leave its conditions open, with the reads that it needs.
/// Writes that never happen here are gone.
Body MakeConditionalStores(const Statement& statement, const Effects& effects,
                           const std::vector<IndexExpr>& inverse, const StoreSite& site);

}  // namespace tunec
