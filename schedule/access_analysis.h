// What sketches need to know of a Compute's accesses.
#pragma once

#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// How far the storage address of an access moves when an iterator grows by one; null when it
/// is no constant (the iterator is divided).
std::optional<int64_t> StorageStride(const Compute& compute, const Statement& statement,
                                     TensorId tensor, const std::vector<IndexExpr>& index,
                                     VarId iterator);

/// The iterator along which an access walks its storage with stride 1, of more than one
/// iteration; null when there is none.
std::optional<VarId> ContiguousIterator(const Compute& compute, const Statement& statement,
                                        TensorId tensor, const std::vector<IndexExpr>& index);

/// How often the statement reads each element: over the iterators that the index does not use.
int64_t ReadsPerElement(const Statement& statement, const Read& read);

/// The product of its extents: how often the statement runs, its domain's conditions aside.
/// CountInstances (ir/compute.h) heeds them too, by visiting points. Sketches compare sizes that
/// lie far apart, for which the box is enough; and with another count some of them would choose
/// otherwise.
double BoxSize(const Statement& statement);

bool UsesIterator(const std::vector<IndexExpr>& index, VarId iterator);

/// The one statement that reduces; null where there are none or several.
std::optional<StatementId> OnlyReduction(const Compute& compute);

/// The statement that writes the last output.
StatementId FinalStatement(const Compute& compute);

/// The iterators by how far a step of theirs moves the write's storage address, farthest first.
/// Those that are divided, or that the write does not know, come before all others.
std::vector<VarId> InStorageOrder(const Compute& compute, const Statement& statement,
                                  const Write& write, const std::vector<VarId>& iterators);

/// The iterators that the statement's write indices use, and the others, in order.
std::vector<VarId> WrittenIterators(const Statement& statement);
std::vector<VarId> ReducedIterators(const Statement& statement);

}  // namespace tunec
