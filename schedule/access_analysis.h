// Functions that analyse the accesses and iterators of a Compute's statements, for sketches.
#pragma once

#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Returns the distance, in storage elements, between the accesses at consecutive values of the
/// iterator. Loaded values count as constants. Returns nothing if the simplified offset has a floor
/// division that contains the iterator.
std::optional<int64_t> StorageStride(const Compute& compute, const Statement& statement,
                                     TensorId tensor, const std::vector<IndexExpr>& index,
                                     VarId iterator);

/// Returns the innermost iterator with more than one iteration along which an access has stride 1
/// in storage. Returns nothing if there is no such iterator.
std::optional<VarId> ContiguousIterator(const Compute& compute, const Statement& statement,
                                        TensorId tensor, const std::vector<IndexExpr>& index);

/// Estimates how often the statement reads each element: returns the product of the extents of the
/// iterators that the index does not use.
int64_t ReadsPerElement(const Statement& statement, const Read& read);

/// Returns the product of the statement's extents. Without conditions in the domain this is the
/// number of instances; CountInstances (ir/compute.h) also considers conditions. Sketches compare
/// sizes that differ strongly, so they need no exact count.
double ProductOfExtents(const Statement& statement);

bool UsesIterator(const std::vector<IndexExpr>& index, VarId iterator);

/// Returns the only statement with a reducer. Returns nothing if no statement or several statements
/// have one.
std::optional<StatementId> OnlyReduction(const Compute& compute);

/// Returns the last statement that writes an output. Requires: some statement writes an output.
StatementId FinalStatement(const Compute& compute);

/// Returns the iterators in the order of their absolute strides in the write's storage, largest
/// first. Iterators without a constant stride, and those of stride 0, come before all others.
std::vector<VarId> InStorageOrder(const Compute& compute, const Statement& statement,
                                  const Write& write, const std::vector<VarId>& iterators);

/// Return the iterators that the statement's write indices use, and the other iterators, in order.
std::vector<VarId> WrittenIterators(const Statement& statement);
std::vector<VarId> ReducedIterators(const Statement& statement);

}  // namespace tunec
