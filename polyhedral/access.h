// The accesses of statements to each written storage, for dependences and check_elements.h. A
// tensor and its aliases share one storage with one index space.
#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

struct Access {
  StatementId statement;
  std::vector<IndexExpr> index;  // over the statement's iterators, one per extent of the storage
  std::vector<IndexExpr> guard;  // the access happens if all are >= 0
  size_t turn = 0;  // number of the write; for a read, number of the write that needs the value
  bool reads = false;
  bool writes = false;  // a reduction both reads and writes its accumulator
  /// True for a write that always replaces the element if `guard` holds. False for a read, for a
  /// reduction, and if the index or the domain depends on loaded values.
  bool replaces = false;
};

struct WrittenStorage {
  TensorId home;                 // the tensor that owns the storage
  std::vector<int64_t> extents;  // extents of the index space
  std::vector<Access> accesses;
};

/// Returns the storages that some statement writes, in tensor order. Each has its writes, and the
/// reads whose values a write needs.
std::vector<WrittenStorage> WrittenStorages(const Tensors& tensors, const Statements& statements);

/// Returns whether the instances of a reduction may be permuted. The reducer must be reorderable.
/// The statement must not read the written storage, nor write two values of a tuple to one storage.
bool IsReorderable(const Tensors& tensors, const Statement& statement);

}  // namespace tunec
