// The check of a large kernel by some of its blocks. The functions select and run these blocks, and
// find the elements that the blocks wrote.
//
// The blocks of one wave run in any order, so any of them may run alone. They run twice: outputs
// are filled with 0xff bytes before one run and with zeros before the other. An element that
// neither run changed was not written by a sampled block, and is not checked. So a missing write of
// a block is not detected, unless the blocks wrote no element at all. Checks of whole kernels with
// smaller shapes can detect it.
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

/// Returns `count` numbers of different blocks, ascending. Blocks at the corners of the block
/// space, which may have guards and partial tiles, are chosen first, then others at random.
/// `extents` are those of the loops over blocks, outermost first; the innermost is fastest in a
/// block's number. Equal seeds give equal results. Requires: 0 < count <= product of the extents.
std::vector<int64_t> SampleBlocks(std::span<const int64_t> extents, int64_t count, uint64_t seed);

/// Returns the blocks of a one-phase kernel that are checked; an empty list means all. The cost of
/// emulation is an estimate from the numbers of operations, loads and threads, so that the result
/// is the same on every machine. A kernel that costs more than the limit, about a tenth of a
/// second, has as many blocks checked as the limit allows, at least one. `extents` and `seed` are
/// the same as in SampleBlocks.
std::vector<int64_t> BlocksToCheck(const PhaseLaunch& launch, const PhaseWork& work,
                                   std::span<const int64_t> extents, uint64_t seed);

/// Runs these blocks of a kernel of one phase and one wave. `arguments` and `workspace` are those
/// of PhaseFunction. Requires: a kernel without scratch.
void RunBlocks(const Kernel& kernel, void* const* arguments, void* workspace,
               std::span<const int64_t> blocks, ThreadPool& pool);

/// Returns true for each element that a kernel wrote in one of two runs. `over_ones` is the output
/// that was filled with 0xff bytes before its run; `over_zeros` is the output of the other run,
/// filled with 0x00 bytes.
std::vector<bool> WrittenElements(const Array& over_ones, const Array& over_zeros);

}  // namespace tunec
