// A quick proof of legality without isl. It succeeds for nearly all candidates of sketches.
#pragma once

#include <vector>

#include "polyhedral/access.h"
#include "polyhedral/legality/order_questions.h"

namespace tunec {

/// Returns for each storage whether the tree's order certainly respects its dependences; false
/// means unknown. Every pair of instances that access one element, of which one writes, counts as a
/// dependence in the original order. Time: pairs of accesses times questions.
std::vector<bool> ProveOrder(const ProofInput& input, const std::vector<OrderQuestion>& questions,
                             const std::vector<WrittenStorage>& storages);

}  // namespace tunec
