// Storage of each thread whose elements lie among those of the others.
#pragma once

#include "ir/loop_nest.h"

namespace tunec {

/// A dimension in which threads take turns becomes two, of which only the second knows the thread:
///
///     local r: f32[32, 1024]                     local r: f32[32, 8, 128]
///     block.x for t in 0 .. 32           ->      block.x for t in 0 .. 32
///       for c in 0 .. 8                            for c in 0 .. 8
///         for v in 0 .. 4                            for v in 0 .. 4
///           s: r[t, 128*c + 4*t + v] = ...             s: r[t, c, 4*t + v] = ...
///
/// so that PrivatizeThreads leaves each thread as many elements as it has. Requires: a verified
/// nest. Ensures: one that verifies, with the same results.
LoopNest CutPrivateDimensions(const LoopNest& nest);

}  // namespace tunec
