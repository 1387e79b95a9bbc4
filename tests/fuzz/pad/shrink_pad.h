// Reduction of a failing padding case.
#pragma once

#include <functional>

#include "tests/fuzz/pad/check_pad.h"

namespace tunec::fuzz {

using PadFails = std::function<bool(const PadCase&)>;

/// Removes outputs and nodes, the same in the graphs of all sizes, as long as the case fails.
PadCase ShrinkPad(PadCase failing, const PadFails& fails, int most_tries = 300);

}  // namespace tunec::fuzz
