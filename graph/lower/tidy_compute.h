// A pass that brings a lowered Compute into a canonical form. So schedules need not handle all
// forms that the lowerings of the operators produce.
#pragma once

#include "ir/compute.h"

namespace tunec::lower {

/// Returns the canonical form. Ensures: no statement has an iterator of extent 0, except the only
/// writer of an output; every statement writes an output or a tensor with readers; a reduction over
/// no elements is an assignment of the finalised identity; no iterator has extent 1. If a reduction
/// writes one tensor, a workspace, its index has one iterator for each dimension. Exceptions are
/// loaded indices, and indices that need more than merged or split dimensions. The values are
/// unchanged.
Compute Tidy(const Compute& compute);

}  // namespace tunec::lower
