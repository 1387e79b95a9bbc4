// What code for a host asks of a processor.
#pragma once

#include <string>
#include <vector>

#include "ir/target.h"

namespace tunec {

/// The features that code for the host may use, by LLVM's names.
std::vector<std::string> FeaturesUsed(const Host& host);

}  // namespace tunec
