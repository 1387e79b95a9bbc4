// A quick proof of legality, without isl, that succeeds for nearly all candidates of sketches.
#pragma once

#include "ir/compute.h"
#include "polyhedral/access.h"
#include "polyhedral/legality.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// What a proof needs to know of the statements that a tree schedules, before any staging.
struct ProofInput {
  const std::vector<Tensor>& tensors;
  const std::vector<Statement>& statements;
  const ScheduleTree& tree;
  ReductionOrder order;
};

/// For each storage whether its dependences certainly hold in the tree's order; false means
/// unknown. Every pair of instances that touch one element is taken for a dependence, from
/// the one that comes first in the original order. Pairs of accesses times depth of the tree.
std::vector<bool> ProveOrder(const ProofInput& input, const std::vector<Storage>& storages);

}  // namespace tunec
