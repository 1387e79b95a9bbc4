// Functions that change a bundle's plan or its sizes at random.
#pragma once

#include <cstdint>

#include "runtime/bundle/stored_plan.h"
#include "runtime/bundle/stored_sizes.h"
#include "support/random.h"

namespace tunec::testing {

/// Returns a number that probably finds a fault. Examples are a number near the value, twice the
/// value, a limit and a power of two.
int64_t Neighbour(int64_t value, Random& random);

/// Makes one change at most. A 64-bit number becomes its Neighbour or another number of the plan. A
/// 32-bit number, a type or the kind of a ValueRef becomes a random one. Alternatively, elements of
/// a list are added, removed, repeated or swapped.
void ChangePlan(bundle::StoredPlan& plan, Random& random);

/// Makes one change at most: of the form, a formula, the list of plans, a plan, or the key or the
/// least sizes of a plan's code.
void ChangeSizes(bundle::StoredSizes& sizes, Random& random);

}  // namespace tunec::testing
