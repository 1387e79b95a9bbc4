// A function that reduces a failing PadCase.
#pragma once

#include <functional>

#include "tests/fuzz/pad/check_pad.h"

namespace tunec::fuzz {

using PadFails = std::function<bool(const PadCase&)>;

/// Removes the same outputs and nodes from the graphs of all sizes, as long as the case fails.
PadCase ShrinkPad(PadCase failing, const PadFails& fails, int most_tries = 300);

}  // namespace tunec::fuzz
