#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the conditions of a reduction's domain that hold for every element that is read.
/// Elements that violate such a condition need no initial and no final value. The result has only
/// conditions over iterators that index the written elements. It is empty unless the written
/// tensors are workspace. They must share no storage and have no other writer. The time is O(reads
/// of the Compute).
std::vector<IndexExpr> ConditionsOfReaders(const Compute& compute, const Statement& reduction);

}  // namespace tunec
