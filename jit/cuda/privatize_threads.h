// Privatization: each thread of a block gets private storage for its part of a tensor.
#pragma once

#include "ir/loop_nest.h"
#include "support/error.h"

namespace tunec {

/// Replaces storage of register and packed scope around loops over threads. In the input, such
/// storage is one tensor for all threads, and each element is accessed by one thread only. In the
/// output, each thread has a private tensor (Alloc::per_thread): the thread's number is removed
/// from the indices, and the shape shrinks to one thread's part:
///
///     local r: f32[64, 2]                        local r: f32[4, 2]
///     alloc r: register                          alloc r: register per_thread
///       block.x for x in 0 .. 16           ->      block.x for x in 0 .. 16
///         unrolled for i in 0 .. 4                   unrolled for i in 0 .. 4
///           r[4*x + i, u] = ...                        r[i, u] = ...
///
/// Each thread holds a few elements of each tile of a fragment in registers. The number of such an
/// element becomes the last index, and the scope becomes register. The variables of the tile's own
/// loops are removed from the index of the accumulator. This index is then equal in every lane of
/// the warp:
///
///     local f: f32[32, 8]                        local f: f32[2, 1, 4]
///     alloc f: fragment                          alloc f: register per_thread
///       block.x for l in 0 .. 32                   block.x for l in 0 .. 32
///         f[16*i + floor(l/4), 2*(l mod 4)] =        f[i, 0, 0] =
///       tile mma.m16n8k16.bf16             ->      tile mma.m16n8k16.bf16
///         f[16*i + m, n] sum=                        f[i, 0, 0] sum=
///
/// The nest must be verified and come from AssignThreads. The result satisfies Verify and computes
/// the same values. Fails with kUnsupported if the threads' parts of a tensor cannot be separated.
/// An example is an index that is not the sum of a part with only the thread's number and a part
/// with only other loops.
Result<LoopNest> PrivatizeThreads(const LoopNest& nest);

}  // namespace tunec
