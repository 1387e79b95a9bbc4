// A small bundle of everything that a plan can have, made by hand: constants that are mapped and
// packed, trusted indices, looked-up ones, copies, an output in an input's place; for a processor
// with a prologue, for one without, and for a GPU.
#pragma once

#include <string>

#include "runtime/bundle/stored_plan.h"

namespace tunec::testing {

/// Its code is of no processor and its cubins of no GPU: TouchBundle runs it.
std::string SampleBundle();

}  // namespace tunec::testing
