// A function that reports out-of-range indices of gathers.
#pragma once

#include "runtime/executable.h"

namespace tunec {

/// Prints a line on standard error for each entry of Executable::Outside.
void NoteOutsideIndices(const Executable& executable);

}  // namespace tunec
