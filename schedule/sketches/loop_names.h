// Names for loops that a sketch makes.
#pragma once

#include <string>

#include "ir/compute.h"

namespace tunec {

/// Returns `statement.name`. Appends "_" until the name differs from the loops over the Compute's
/// iterators and their parts, because `fuse` rejects an existing name.
std::string NewLoopName(const Compute& compute, const std::string& statement,
                        const std::string& name);

}  // namespace tunec
