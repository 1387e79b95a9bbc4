#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Of a reduction's conditions, those that every statement which reads its results shares: an
/// element for which one does not hold is read by nobody, so that it needs no beginning and no
/// finish. Only conditions over iterators that tell an element, and only of tensors that the
/// Compute keeps to itself. O(reads of the Compute).
std::vector<IndexExpr> ConditionsOfReaders(const Compute& compute, const Statement& reduction);

}  // namespace tunec
