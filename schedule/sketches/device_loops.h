// Steps that sketches for devices share: loops become blocks and threads.
#pragma once

#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

/// Fuses loops that stand directly inside each other, outermost first, into one, and returns what
/// it is called. Requires: at least one.
std::string FuseAll(const Compute& compute, const std::string& statement, const std::string& name,
                    const std::vector<std::string>& loops, Schedule& schedule);

/// Binds a chain of loops, outermost first, to the axes of the grid, the innermost to x; those
/// that are too many are fused. Returns the innermost of them. Requires: at least one.
std::string BindGrid(const Compute& compute, const std::string& statement,
                     const std::vector<std::string>& loops, Schedule& schedule);

}  // namespace tunec
