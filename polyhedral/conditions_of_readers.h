#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the conditions of a reduction's domain that provably hold for each element that is read.
/// Elements that violate such a condition need no initial and no final value. The result has only
/// conditions over iterators that index the written elements. The result is empty unless each
/// written tensor is a workspace that shares no storage and has no other write.
std::vector<IndexExpr> ConditionsOfReaders(const Compute& compute, const Statement& reduction);

}  // namespace tunec
