// Some of a Compute's statements by themselves.
#pragma once

#include "ir/compute.h"

namespace tunec {

/// The statements from `begin` to before `end` as a Compute: what others compute for them is its
/// input, what others read of theirs its output. Names stay, so that steps for it are steps for
/// the whole. Requires: no tensor shares the storage of another.
Compute StatementsOf(const Compute& compute, StatementId begin, StatementId end);

/// Where the statements end that go element by element over what a reduction has left: each has no
/// reduction of its own, walks the results once, and reads what the ones before it computed.
StatementId FollowersEnd(const Compute& compute, StatementId reduction);

}  // namespace tunec
