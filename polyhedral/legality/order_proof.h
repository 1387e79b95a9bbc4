// A quick proof, without isl, that an order is legal. The proof succeeds for nearly all schedules
// that sketches make.
#pragma once

#include <vector>

#include "polyhedral/access.h"
#include "polyhedral/legality/order_questions.h"

namespace tunec {

/// Returns for each storage whether a proof was found that the tree's order respects the storage's
/// dependences, as the questions require. False means unknown. Every pair of instances that access
/// one element, of which at least one writes, counts as a dependence in the original order. The
/// time is O(pairs of accesses times questions).
std::vector<bool> ProveOrder(const ProofInput& input, const std::vector<OrderQuestion>& questions,
                             const std::vector<WrittenStorage>& storages);

}  // namespace tunec
