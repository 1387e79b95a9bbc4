// A function that lists the features that code for a host may use.
#pragma once

#include <string>
#include <vector>

#include "ir/target.h"

namespace tunec {

/// Returns the features that code for the host may use, by LLVM's names. Returns an empty list if
/// LLVM has no back end for x86.
std::vector<std::string> FeaturesUsed(const Host& host);

}  // namespace tunec
