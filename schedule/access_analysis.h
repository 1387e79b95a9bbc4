// Properties of a Compute's accesses that sketches use.
#pragma once

#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the distance in storage elements between accesses at consecutive iterator values.
/// Returns null if the distance is not a constant (a floor division contains the iterator).
std::optional<int64_t> StorageStride(const Compute& compute, const Statement& statement,
                                     TensorId tensor, const std::vector<IndexExpr>& index,
                                     VarId iterator);

/// Returns the iterator with more than one iteration along which an access has stride 1 in storage,
/// or null.
std::optional<VarId> ContiguousIterator(const Compute& compute, const Statement& statement,
                                        TensorId tensor, const std::vector<IndexExpr>& index);

/// Returns how often the statement reads each element: the iterations of the iterators that the
/// index does not use.
int64_t ReadsPerElement(const Statement& statement, const Read& read);

/// Returns the product of the extents: the number of the statement's runs without its domain's
/// conditions. CountInstances (ir/compute.h) includes the conditions by visiting points. Sketches
/// compare sizes that differ strongly, so this product is sufficient. With another count some
/// sketches would make other choices.
double BoxSize(const Statement& statement);

bool UsesIterator(const std::vector<IndexExpr>& index, VarId iterator);

/// Returns the only statement that reduces; null if no statement or several statements reduce.
std::optional<StatementId> OnlyReduction(const Compute& compute);

/// Returns the statement that writes the last output.
StatementId FinalStatement(const Compute& compute);

/// Returns the iterators in the order of the write's storage stride, largest first. Iterators
/// inside divisions, and iterators that the write does not use, come before all others.
std::vector<VarId> InStorageOrder(const Compute& compute, const Statement& statement,
                                  const Write& write, const std::vector<VarId>& iterators);

/// Return the iterators that the statement's write indices use, and the other iterators, in order.
std::vector<VarId> WrittenIterators(const Statement& statement);
std::vector<VarId> ReducedIterators(const Statement& statement);

}  // namespace tunec
