// What a user should know about indices that a gather found out of range.
#pragma once

#include "runtime/executable.h"

namespace tunec {

/// A line on standard error for each gather that met such indices in the runs so far.
void NoteOutsideIndices(const Executable& executable);

}  // namespace tunec
