// A function that reduces a failing PadCase.
#pragma once

#include <functional>

#include "tests/fuzz/pad/check_pad.h"

namespace tunec::fuzz {

using PadFails = std::function<bool(const PadCase&)>;

/// Removes outputs and nodes from the graph, if the case then still fails. Calls `fails` at most
/// `most_tries` times.
PadCase ShrinkPad(PadCase failing, const PadFails& fails, int most_tries = 300);

}  // namespace tunec::fuzz
