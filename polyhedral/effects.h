// Conditions of a statement's accesses, derived from the selects in its values. Statements of one
// sequential loop may be combined into one statement with several writes. Each write keeps the old
// element in the turns of the others:
//
//     (x[i], y[i]) = (select(holds(0 - p >= 0), y[i] * 2.0, x[i]), select(holds(p - 1 >= 0), ...
//
// Such a write happens only if its condition is true. A read inside it is needed only then.
#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

/// A write of `value` that happens if all of `when` are >= 0; otherwise the element is unchanged.
struct ConditionalWrite {
  std::vector<IndexExpr> when;
  Expr value;
};

/// A use of a read for a write, if all of `when` are >= 0.
struct ReadUse {
  size_t write = 0;
  std::vector<IndexExpr> when;
  bool operator==(const ReadUse&) const = default;
};

struct Effects {
  std::vector<ConditionalWrite> writes;      // the statement's writes, in order
  std::vector<std::vector<ReadUse>> needed;  // per read
  /// Some write has conditions. The writes can then run one after another, each with its reads: no
  /// write reads what an earlier write of the same instance wrote.
  bool conditional = false;
};

/// Returns the effects of a statement. If the statement has a reducer, loaded indices or storage
/// that tensors share, all writes and reads are unconditional.
Effects EffectsOf(const Tensors& tensors, const Statement& statement);

}  // namespace tunec
