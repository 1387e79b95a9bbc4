// A quick proof of legality, without isl, that succeeds for nearly all candidates of sketches.
#pragma once

#include <vector>

#include "polyhedral/access.h"
#include "polyhedral/legality/order_questions.h"

namespace tunec {

/// For each storage whether its dependences certainly hold in the tree's order; false means
/// unknown. Every pair of instances that touch one element is taken for a dependence, from
/// the one that comes first in the original order. Pairs of accesses times questions.
std::vector<bool> ProveOrder(const ProofInput& input, const std::vector<OrderQuestion>& questions,
                             const std::vector<WrittenStorage>& storages);

}  // namespace tunec
