// Mutations of a bundle's plan.
#pragma once

#include <cstdint>

#include "runtime/bundle/stored_plan.h"
#include "runtime/bundle/stored_sizes.h"
#include "support/random.h"

namespace tunec::testing {

/// Returns another number that is likely to have a meaning: a neighbour, a bound, a small number.
int64_t Neighbour(int64_t value, Random& random);

/// Makes one change. It replaces a number, a type or a kind of argument by a neighbour or by
/// another of the plan. Or it removes, repeats or moves an element of a list.
void ChangePlan(bundle::StoredPlan& plan, Random& random);

/// Changes one of: a plan, the available sizes, the dynamic dimensions, or a formula.
void ChangeSizes(bundle::StoredSizes& sizes, Random& random);

}  // namespace tunec::testing
