// Check of the invariants of a workload that came from outside, in a frame or in a case file.
#pragma once

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// Checks the invariants:
///   - Lowerings: at least one; the names are not empty and are different. Each Compute passes
///     Verify and CheckElements. Inputs, weights and outputs have equal names, roles, types, shapes
///     and layouts in all lowerings, in the same order, since the lowerings share memory.
///   - Sizes: the product of a statement's extents is at most 2^44. All tensors of a lowering
///     together, as float64, fit in UsableMemory.
///   - Target: its CPU has 16 vector registers of 256 bits, or 32 of 512 bits with avx512f,
///     avx512bw, avx512dq and avx512vl. The limits of other numbers are checked at decoding.
/// Errors: kInvalidArgument, kResourceLimit for sizes.
Status Verify(const Workload& workload);

}  // namespace tunec
