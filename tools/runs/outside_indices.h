// Reports out-of-range indices of gathers to the user.
#pragma once

#include "runtime/executable.h"

namespace tunec {

/// Prints a line on standard error for each gather with such indices in the runs so far.
void NoteOutsideIndices(const Executable& executable);

}  // namespace tunec
