// New names for the loops that a sketch makes by `fuse`.
#pragma once

#include <string>

#include "ir/compute.h"

namespace tunec {

/// Returns `statement.name`, with as many "_" appended as it takes to differ from the loops over
/// the Compute's iterators and from their parts. The step `fuse` rejects an existing name.
std::string NewLoopName(const Compute& compute, const std::string& statement,
                        const std::string& name);

}  // namespace tunec
