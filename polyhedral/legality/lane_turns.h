// The lanes of a vector loop run the writes of a statement that has them one by one (effects.h) in
// turns: all lanes read and write for the first, then for the second. What passes from one lane to
// another only has to keep that order.
#pragma once

#include "polyhedral/access.h"
#include "polyhedral/isl_handles.h"

namespace tunec {

struct LaneOrder {
  const Statement& statement;
  const isl::Map& times;  // from instances to the tree's times
  size_t depth = 0;       // of the vector loop's entry there
};

/// Whether any two accesses of the statement to one element of the storage, from an earlier and a
/// later lane, come in that order in their turns too. Takes every such pair for a dependence.
/// Requires: the statement's effects are conditional. False when isl's quota is used up.
bool KeepTurns(isl_ctx* ctx, StatementId id, const LaneOrder& order, const WrittenStorage& storage);

}  // namespace tunec
