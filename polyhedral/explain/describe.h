// Functions that describe dependences, domains and accesses as text. They fail with kResourceLimit
// if isl's quota is used up.
#pragma once

#include <string>

#include "polyhedral/dependences.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// Returns the flow dependences as isl's text, for documentation and tests.
Result<std::string> PrintFlow(const Dependences& dependences);

/// Returns the domains and accesses of the statements, their order in `tree`, and all dependences.
/// The text uses the names of statements, iterators and tensors.
Result<std::string> Describe(const Dependences& dependences, const ScheduleTree& tree);

}  // namespace tunec
