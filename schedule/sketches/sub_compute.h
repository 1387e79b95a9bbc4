// Selection of some of a Compute's statements.
#pragma once

#include "ir/compute.h"

namespace tunec {

/// Returns the statements from `begin` to before `end` as a Compute. Tensors computed by other
/// statements become inputs; tensors read by other statements become outputs. Names are unchanged,
/// so that steps for it are valid steps for the whole. Requires: no tensor shares the storage of
/// another.
Compute StatementsOf(const Compute& compute, StatementId begin, StatementId end);

/// Returns the end of the elementwise statements after a reduction. Each statement has no
/// reduction, walks the results once, and reads a result of the reduction or of an earlier
/// follower.
StatementId FollowersEnd(const Compute& compute, StatementId reduction);

}  // namespace tunec
