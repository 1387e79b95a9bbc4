// Names for loops that a sketch makes.
#pragma once

#include <string>

#include "ir/compute.h"

namespace tunec {

/// `statement.name`, with as many "_" behind it as keep it from being the name of a loop over one
/// of the Compute's iterators, or of a part of one: `fuse` refuses a name that there is already.
std::string NewLoopName(const Compute& compute, const std::string& statement,
                        const std::string& name);

}  // namespace tunec
