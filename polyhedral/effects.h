// Conditions of a statement's accesses, derived from the selects in its values. A statement with
// several writes may combine statements that ran in different iterations of one sequential loop. In
// the iterations of the other statements, a write stores the old element:
//
//     (x[i], y[i]) = (select(holds(0 - p >= 0), y[i] * 2.0, x[i]), select(holds(p - 1 >= 0), ...
//
// Each of these writes happens only if its condition is true, and the reads in its new value are
// needed only then.
#pragma once

#include <vector>

#include "ir/compute.h"

namespace tunec {

/// A write of `value` that happens if all of `when` are >= 0; otherwise the element is unchanged.
struct ConditionalWrite {
  std::vector<IndexExpr> when;
  Expr value;
};

/// A use of a read's value: write number `write` may need the value if all of `when` are >= 0.
/// If no write has conditions, `write` is 0 for all reads.
struct ReadUse {
  size_t write = 0;
  std::vector<IndexExpr> when;
  bool operator==(const ReadUse&) const = default;
};

struct Effects {
  std::vector<ConditionalWrite> writes;      // the statement's writes, in order
  std::vector<std::vector<ReadUse>> needed;  // uses of each read
  /// True if some write has conditions. The writes can then run one after another, each with its
  /// reads, because no write reads an element that an earlier write of the same instance writes.
  bool conditional = false;
};

/// Returns the effects of a statement. All writes and reads are unconditional if the statement has
/// a reducer, aliases, or loaded values in indices or conditions. They are also unconditional if an
/// earlier write might change an element that a later write needs.
Effects EffectsOf(const Tensors& tensors, const Statement& statement);

}  // namespace tunec
