// Functions that describe dependences, domains and accesses as text. They fail with kResourceLimit
// if isl cannot compute the dependences within its quota.
#pragma once

#include <string>

#include "polyhedral/dependences.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// Returns the flow dependences as isl's text, for tests and benchmarks.
Result<std::string> PrintFlow(const Dependences& dependences);

/// Returns the domains, accesses and execution times in `tree` of all statements, and all
/// dependences. The text uses the names of statements, iterators and tensors.
Result<std::string> Describe(const Dependences& dependences, const ScheduleTree& tree);

}  // namespace tunec
