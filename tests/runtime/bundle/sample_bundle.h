// A small handmade bundle with many features of a plan. It has mapped and packed constants, trusted
// and checked indices, a copy, and an output that can use an input's memory. Its three variants are
// a plan with preprocessing for a processor, a plan without preprocessing for a processor, and a
// plan for a GPU.
#pragma once

#include <string>

#include "runtime/bundle/stored_plan.h"

namespace tunec::testing {

/// Returns the bundle. Its code and its cubins are fakes, which BundleToucher does not run.
std::string SampleBundle();

}  // namespace tunec::testing
