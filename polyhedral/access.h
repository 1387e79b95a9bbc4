// The accesses of statements to storage, as both proofs of legality see them. Tensors that
// share storage (an alias and its home) are one storage, indexed alike by all.
#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

struct Access {
  StatementId statement;
  std::vector<IndexExpr> index;  // over the statement's iterators, one per extent of the storage
  std::vector<IndexExpr> guard;  // it happens where all are >= 0
  size_t turn = 0;               // the write of the statement that it is, or that it is read for
  bool reads = false;
  bool writes = false;  // both for the accumulator of a reduction
  /// A write that replaces what was there each time it is reached: not a reduction's, which
  /// only adds to it, and not one whose place or condition depends on loaded values.
  bool replaces = false;
};

struct WrittenStorage {
  TensorId home;                 // the tensor whose storage it is
  std::vector<int64_t> extents;  // of the index space
  std::vector<Access> accesses;
};

/// The storages that some statement writes, with all accesses to them, by tensor.
std::vector<WrittenStorage> WrittenStorages(const Tensors& tensors, const Statements& statements);

/// Whether the instances of a reduction may be permuted: the reducer allows it, and nothing
/// but the reducer itself reads what the statement writes.
bool IsReorderable(const Tensors& tensors, const Statement& statement);

}  // namespace tunec
