// A small handmade bundle with every feature of a plan: mapped and packed constants, trusted and
// checked indices, copies, an output in an input's memory. It has variants for a processor with a
// prologue, for one without, and for a GPU.
#pragma once

#include <string>

#include "runtime/bundle/stored_plan.h"

namespace tunec::testing {

/// Returns the bundle. Its code and its cubins are fakes, which TouchBundle replaces.
std::string SampleBundle();

}  // namespace tunec::testing
