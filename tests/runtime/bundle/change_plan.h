// Mutations of a bundle's plan.
#pragma once

#include <cstdint>

#include "runtime/bundle/stored_plan.h"
#include "runtime/bundle/stored_sizes.h"
#include "support/random.h"

namespace tunec::testing {

/// Returns a number that is likely to have a meaning: near the value, a bound, or a small number.
int64_t Neighbour(int64_t value, Random& random);

/// Makes one change at most. Replaces a number by a neighbour or by another number of the plan, or
/// a type or a kind of argument by a random one. Or changes a list: adds, removes, repeats or swaps
/// elements.
void ChangePlan(bundle::StoredPlan& plan, Random& random);

/// Changes one of: a plan, the available sizes, the dynamic dimensions, or a formula.
void ChangeSizes(bundle::StoredSizes& sizes, Random& random);

}  // namespace tunec::testing
