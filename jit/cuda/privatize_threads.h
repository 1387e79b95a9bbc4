// Storage of which each thread of a block has a part becomes the thread's own.
#pragma once

#include "ir/loop_nest.h"
#include "support/error.h"

namespace tunec {

/// Storage of register and packed scope outside of loops over threads is one tensor whose elements
/// belong to the threads that touch them. Here each thread has such a tensor for itself, so the
/// thread's number leaves the indices, and the shape shrinks to one thread's part:
///
///     local r: f32[64, 2]                        local r: f32[4, 2]
///     block.x for x in 0 .. 16             ->    block.x for x in 0 .. 16
///       unrolled for i in 0 .. 4                   unrolled for i in 0 .. 4
///         r[4*x + i, u] = ...                        r[i, u] = ...
///
/// Of a fragment a thread has some registers of each tile, one after the other; the number of the
/// register becomes the last index, and the scope register. The tile's own loops leave the index of
/// its accumulator, which is then what every lane of the warp has:
///
///     local f: f32[32, 8]                        local f: f32[2, 1, 4]
///     block.x for l in 0 .. 32                   block.x for l in 0 .. 32
///       f[16*i + floor(l/4), 2*(l mod 4)] =        f[i, 0, 0] =
///     tile mma.m16n8k16.bf16               ->    tile mma.m16n8k16.bf16
///       f[16*i + m, n] sum=                        f[i, 0, 0] sum=
///
/// Requires: a verified nest, as AssignThreads leaves it. Ensures: one that, but for such tiles,
/// verifies, and means the same where such storage is a thread's (the interpreter's is the
/// block's). kUnsupported for an index that is no sum of a part of the thread's number and of a
/// part of other loops, and for two accesses that the thread's number enters differently.
Result<LoopNest> PrivatizeThreads(const LoopNest& nest);

}  // namespace tunec
