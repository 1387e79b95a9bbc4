#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the conditions of a reduction that every reader of the results shares. Elements that
/// violate a condition are never read, so they need no initial and no final value. Only conditions
/// over iterators that index an element count, and only for tensors that are internal to the
/// Compute. O(reads of the Compute).
std::vector<IndexExpr> ConditionsOfReaders(const Compute& compute, const Statement& reduction);

}  // namespace tunec
