// What may be relied on of a workload that came from outside: out of a frame or a case file.
#pragma once

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// The invariants:
///   Lowerings: at least one; names are given and different; each Compute verifies, stays inside
///   its tensors and reads what was written (CheckElements); all have the arguments and outputs
///   of the first, stored alike, for they share its memory.
///   Sizes: a statement has at most 2^44 instances; the tensors, as float64, fit in this
///   machine's memory.
///   Target: a CPU; vectors of 256 bits and 16 registers, or of 512 and 32 with the features that
///   they need. Numbers are within their limits already (DecodeTarget).
/// Errors: kInvalidArgument, kResourceLimit for sizes.
Status Verify(const Workload& workload);

}  // namespace tunec
