// A pass that splits a private tensor's dimensions in which the elements of different threads
// alternate.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// Splits dimensions in which the elements of different threads alternate into two dimensions each.
/// Of the two indices, only the second one depends on the thread:
///
///     local r: f32[32, 1024]                     local r: f32[32, 8, 128]
///     block.x for t in 0 .. 32           ->      block.x for t in 0 .. 32
///       for c in 0 .. 8                            for c in 0 .. 8
///         for v in 0 .. 4                            for v in 0 .. 4
///           s: r[t, 128*c + 4*t + v] = ...             s: r[t, c, 4*t + v] = ...
///
/// PrivatizeThreads then leaves each thread only its own elements. The nest must be verified. The
/// result satisfies Verify and computes the same values.
LoopNest CutPrivateDimensions(const LoopNest& nest);

}  // namespace tunec
