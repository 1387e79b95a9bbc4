// Tests of the number of blocks that a GPU's processor runs at once, against hand-computed numbers.
#include "ir/occupancy.h"

#include <gtest/gtest.h>

namespace tunec {
namespace {

// Returns the limits of one processor of sm_90.
Accelerator Gpu() {
  return {.kind = "cuda",
          .registers = 65536,
          .processor_shared_bytes = 228 << 10,
          .resident_threads = 2048,
          .resident_blocks = 32};
}

void ExpectOccupancy(const BlockUse& use, int64_t blocks, double share, OccupancyLimit limit) {
  const Occupancy found = OccupancyOf(use, Gpu());
  EXPECT_EQ(found.blocks, blocks);
  EXPECT_DOUBLE_EQ(found.share, share);
  EXPECT_EQ(Name(found.limit), Name(limit));
}

TEST(Occupancy, IsTheLeastOfFourLimits) {
  // Each of 8 warps takes 64 * 32 = 2048 registers, so 65536 registers hold four blocks.
  ExpectOccupancy({.threads = 256, .registers = 64}, 4, 0.5, OccupancyLimit::kRegisters);
  // 33 * 32 = 1056 registers of a warp are rounded up to 1280, so six blocks of 8 warps fit.
  ExpectOccupancy({.threads = 256, .registers = 33}, 6, 0.75, OccupancyLimit::kRegisters);
  ExpectOccupancy({.threads = 1024, .registers = 16}, 2, 1, OccupancyLimit::kThreads);
  ExpectOccupancy({.threads = 32, .registers = 16}, 32, 0.5, OccupancyLimit::kBlocks);
  // A partial warp counts as a whole warp.
  ExpectOccupancy({.threads = 33, .registers = 16}, 32, 1, OccupancyLimit::kThreads);
  // A block uses 48 KiB, and the system adds 1 KiB. 228 KiB hold four blocks.
  ExpectOccupancy({.threads = 128, .shared_bytes = 48 << 10}, 4, 0.25, OccupancyLimit::kShared);
}

TEST(Occupancy, MayBeNone) {
  ExpectOccupancy({.threads = 1024, .registers = 255}, 0, 0, OccupancyLimit::kRegisters);
  ExpectOccupancy({.threads = 32, .shared_bytes = 228 << 10}, 0, 0, OccupancyLimit::kShared);
}

TEST(Occupancy, TakesLimitsThatAreKnown) {
  EXPECT_TRUE(HasKnownLimits(Gpu()));
  for (int64_t Accelerator::*limit :
       {&Accelerator::registers, &Accelerator::processor_shared_bytes,
        &Accelerator::resident_threads, &Accelerator::resident_blocks}) {
    Accelerator device = Gpu();
    device.*limit = 0;
    EXPECT_FALSE(HasKnownLimits(device));
  }
}

}  // namespace
}  // namespace tunec
