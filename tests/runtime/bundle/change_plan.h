// Changes of what a bundle's plan says.
#pragma once

#include <cstdint>

#include "runtime/bundle/stored_plan.h"
#include "runtime/bundle/stored_sizes.h"
#include "support/random.h"

namespace tunec::testing {

/// Another number that is likely to mean something: one next to it, a bound, a small one.
int64_t Neighbour(int64_t value, Random& random);

/// One change: of a number, a type or a kind of argument, to a neighbour of its or to what stands
/// elsewhere in the plan; or a thing of a list is left out, doubled, or in another's place.
void ChangePlan(bundle::StoredPlan& plan, Random& random);

/// One change of one of the plans, of which sizes there are, of what is open, or of a formula.
void ChangeSizes(bundle::StoredSizes& sizes, Random& random);

}  // namespace tunec::testing
