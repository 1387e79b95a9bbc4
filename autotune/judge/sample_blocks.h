// Checking a large kernel by some of its blocks: which, and what they wrote.
//
// The blocks of one wave run in any order, so any of them may run alone. Outputs are filled before,
// once with ones and once with zeros; what neither run changed, no sampled block has written, and
// it is not judged. So an element that a block should have written and did not goes unseen here,
// unless the blocks wrote nothing at all; the whole kernel, in smaller shapes, shows it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/array.h"
#include "kernel/predict/phase_work.h"
#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// `count` numbers of different blocks, ascending: those at the corners of the box first, where
/// guards and partial tiles are, then others at random. `extents` are those of the loops over
/// blocks, outermost first; the innermost is fastest in a block's number. The same seed gives the
/// same. Requires: 0 < count <= the product of the extents.
std::vector<int64_t> SampleBlocks(std::span<const int64_t> extents, int64_t count, uint64_t seed);

/// The blocks by which a kernel of one phase is checked; none: by all of them. What emulation costs
/// is counted, not timed, so that the answer is the same on every machine: operations, loads and
/// threads that are worth about a tenth of a second. Of a larger kernel as many blocks as that
/// buys, at least one. `extents` as of SampleBlocks.
std::vector<int64_t> BlocksToCheck(const PhaseLaunch& launch, const PhaseWork& work,
                                   std::span<const int64_t> extents, uint64_t seed);

/// Runs these blocks of a kernel of one phase and one wave. `arguments` and `workspace` as
/// PhaseFunction has them. Requires: a kernel without scratch.
void RunBlocks(const Kernel& kernel, void* const* arguments, void* workspace,
               std::span<const int64_t> blocks, ThreadPool& pool);

/// Which elements have been written: of an array that was filled with 0xff bytes before, and of
/// the same one in another run with 0x00 bytes.
std::vector<bool> WrittenElements(const Array& over_ones, const Array& over_zeros);

}  // namespace tunec
