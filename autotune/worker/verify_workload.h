// Check of the invariants of a workload that came from outside, in a frame or in a case file.
#pragma once

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// Checks the invariants:
///   - Lowerings: at least one; the names are not empty and are different. Each Compute verifies,
///     stays inside its tensors and reads only written elements (CheckElements). All share the
///     memory of the first lowering, so arguments, outputs and storage must be equal.
///   - Sizes: a statement has at most 2^44 instances; the tensors, as float64, fit in this
///     machine's memory.
///   - Target: its CPU has 16 vector registers of 256 bits, or 32 of 512 bits and the features
///     that they need. DecodeTarget has already checked the limits of its numbers.
/// Errors: kInvalidArgument, kResourceLimit for sizes.
Status Verify(const Workload& workload);

}  // namespace tunec
