// A check of vector loops around a statement that runs its writes one by one (effects.h). All lanes
// read and write for the first write, then for the second write, and so on. Dependences between
// lanes must be compatible with this order.
#pragma once

#include "polyhedral/access.h"
#include "polyhedral/isl_handles.h"

namespace tunec {

struct LaneOrder {
  const Statement& statement;
  const isl::Map& times;  // from instances to the tree's times
  size_t depth = 0;       // position of the vector loop's entry in the times
};

/// Returns whether lanes that run the writes one by one keep the order of conflicting accesses. Of
/// any two accesses to one element of the storage, of which at least one writes, the access of the
/// earlier lane must come first. Every such pair counts as a dependence. Requires: the statement's
/// effects are conditional. Returns false if isl fails, such as at its quota.
bool LanesKeepOrder(isl_ctx* ctx, StatementId id, const LaneOrder& order,
                    const WrittenStorage& storage);

}  // namespace tunec
