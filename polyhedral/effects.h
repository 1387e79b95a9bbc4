// What the selects in a statement's values say of its accesses. Statements of one sequential loop
// are written as one with several writes, each of which keeps the old element where another has its
// turn:
//
//     (x[i], y[i]) = (select(holds(0 - p >= 0), y[i] * 2.0, x[i]), select(holds(p - 1 >= 0), ...
//
// Such a write happens only where its condition holds, and what is read there alone is needed there
// alone.
#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

/// A write that happens where all of `when` are >= 0, with this value; elsewhere the element stays.
struct ConditionalWrite {
  std::vector<IndexExpr> when;
  Expr value;
};

/// The value of a read is used for a write, where all of `when` are >= 0.
struct ReadUse {
  size_t write = 0;
  std::vector<IndexExpr> when;
  bool operator==(const ReadUse&) const = default;
};

struct Effects {
  std::vector<ConditionalWrite> writes;      // of the statement's, in order
  std::vector<std::vector<ReadUse>> needed;  // per read
  /// Whether a write has conditions. Its writes can then be made one after the other, each with
  /// what it reads: none reads what an earlier one of the same instance wrote.
  bool conditional = false;
};

/// Of a statement with a reducer, with loaded indices, or with storage that tensors share: that all
/// happens everywhere.
Effects EffectsOf(const Tensors& tensors, const Statement& statement);

}  // namespace tunec
