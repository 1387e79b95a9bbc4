#include "autotune/checker/sample_blocks.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>

#include "kernel/predict/occupancy.h"
#include "support/check.h"
#include "support/random.h"

namespace tunec {
namespace {

constexpr double kMostOperations = 1 << 26;  // limit for one check; loads count as operations
constexpr double kThreadOperations = 400;    // cost of emulating a thread
constexpr double kRuns = 2;                  // runs of each sampled block

// Returns the block at a corner of the block space. A set bit d of `corner` puts axis d at its
// beginning, a clear bit at its end. Corner 0, with all axes at their ends, has partial tiles if
// any block has.
int64_t CornerBlock(std::span<const int64_t> extents, uint64_t corner) {
  int64_t block = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    const bool at_begin = ((corner >> d) & 1) != 0;
    block = block * extents[d] + (at_begin ? 0 : extents[d] - 1);
  }
  return block;
}

bool IsFilledWith(const Array& array, int64_t element, std::byte value) {
  const size_t size = SizeOf(array.type());
  const std::byte* const begin = array.data() + static_cast<size_t>(element) * size;
  return std::all_of(begin, begin + size, [&](std::byte byte) { return byte == value; });
}

}  // namespace

std::vector<int64_t> SampleBlocks(std::span<const int64_t> extents, int64_t count, uint64_t seed) {
  const int64_t all =
      std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies());
  TUNEC_CHECK(count > 0 && count <= all, "{} of {} blocks", count, all);
  const auto required = static_cast<size_t>(count);
  std::set<int64_t> blocks;
  constexpr size_t kMostAxes = 6;
  const uint64_t corners = uint64_t{1} << std::min(extents.size(), kMostAxes);
  for (uint64_t corner = 0; corner < corners && blocks.size() < required; ++corner)
    blocks.insert(CornerBlock(extents, corner));
  Random random(StreamSeed(seed, "blocks"));
  while (blocks.size() < required)
    blocks.insert(static_cast<int64_t>(random.Below(static_cast<uint64_t>(all))));
  return {blocks.begin(), blocks.end()};
}

std::vector<int64_t> BlocksToCheck(const PhaseLaunch& launch, const PhaseWork& work,
                                   std::span<const int64_t> extents, uint64_t seed) {
  const auto blocks = static_cast<double>(launch.Blocks());
  const double threads = blocks * static_cast<double>(ThreadsOf(launch));
  const double all = AllOperations(work) + work.loads + kThreadOperations * threads;
  if (all <= kMostOperations) return {};
  const auto count = static_cast<int64_t>(blocks * kMostOperations / all / kRuns);
  return SampleBlocks(extents, std::max<int64_t>(count, 1), seed);
}

void RunBlocks(const Kernel& kernel, void* const* arguments, void* workspace,
               std::span<const int64_t> blocks, ThreadPool& pool) {
  TUNEC_CHECK(kernel.phases.size() == 1 && kernel.scratch_bytes == 0, "{} phases, {} of scratch",
              kernel.phases.size(), kernel.scratch_bytes);
  const PhaseFunction function = kernel.phases.front().function;
  pool.ParallelFor(std::ssize(blocks), [&](int64_t i, int) {
    function(arguments, workspace, nullptr, blocks[static_cast<size_t>(i)]);
  });
}

std::vector<bool> WrittenElements(const Array& over_ones, const Array& over_zeros) {
  std::vector<bool> written(static_cast<size_t>(over_ones.size()));
  for (int64_t i = 0; i < over_ones.size(); ++i) {
    written[static_cast<size_t>(i)] =
        !IsFilledWith(over_ones, i, std::byte{0xff}) || !IsFilledWith(over_zeros, i, std::byte{0});
  }
  return written;
}

}  // namespace tunec
