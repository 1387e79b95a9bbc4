// Functions that select consecutive statements of a Compute.
#pragma once

#include "ir/compute.h"

namespace tunec {

/// Returns the statements from `begin` to before `end` as a Compute. A tensor that they only read
/// becomes an input, except for weights. A tensor that they write and other statements read becomes
/// an output. Names are unchanged, so steps for the result name the same statements of `compute`.
/// Requires: no tensor shares the storage of another tensor.
Compute StatementsOf(const Compute& compute, StatementId begin, StatementId end);

/// Returns the end of the elementwise statements (followers) after a reduction. A follower has no
/// reducer and as many instances as the reduction has results. It reads a result of the reduction
/// or of an earlier follower.
StatementId FollowersEnd(const Compute& compute, StatementId reduction);

}  // namespace tunec
