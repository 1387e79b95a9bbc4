// Tests of the predicted work and times of GPU kernels, against hand-computed numbers. The GPU's
// clock and bandwidth are round numbers.
#include "kernel/predict/predict_time.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace tunec {
namespace {

Accelerator Gpu() {
  return {.kind = "cuda",
          .name = "sm_90a",
          .processors = 100,
          .shared_bytes = 227 << 10,
          .part = "round",
          .registers = 65536,
          .processor_shared_bytes = 228 << 10,
          .resident_threads = 2048,
          .resident_blocks = 32,
          .multiply_adds = 128,
          .matrix_f16 = 2048,
          .matrix_tf32 = 1024,
          .matrix_i8 = 4096,
          .l2_bytes = 50 << 20,
          .bytes_per_second = 2000000000000,
          .clock_hertz = 1000000000};
}

PhaseLaunch Blocks(int64_t blocks, int64_t threads, int64_t registers = 32) {
  return {.symbol = "k", .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .registers = registers};
}

TEST(OccupancyOfLaunch, IsThatOfItsBlocks) {
  PhaseLaunch sharing = Blocks(7, 64);
  sharing.block = {32, 2, 2};
  sharing.shared_bytes = 48 << 10;
  EXPECT_EQ(
      OccupancyOf(sharing, Gpu()),
      OccupancyOf(BlockUse{.threads = 128, .registers = 32, .shared_bytes = 48 << 10}, Gpu()));
}

TEST(OccupancyOfLaunch, MayBeNoneOrUnknown) {
  EXPECT_EQ(OccupancyOf(Blocks(1, 1024, 255), Gpu())->blocks, 0);
  EXPECT_FALSE(PredictTime({}, Blocks(1, 1024, 255), Gpu()));
  EXPECT_FALSE(OccupancyOf(Blocks(1, 256, 0), Gpu()));
  EXPECT_FALSE(PredictTime({}, Blocks(1, 256, 0), Gpu()));
  EXPECT_FALSE(OccupancyOf(Blocks(1, 256), Accelerator{.kind = "paper"}));
  // If only the architecture is known, there is an occupancy, but no time.
  Accelerator arch = Gpu();
  arch.bytes_per_second = 0;
  EXPECT_TRUE(OccupancyOf(Blocks(1, 256), arch));
  EXPECT_FALSE(PredictTime({}, Blocks(1, 256), arch));
}

TEST(OccupancyOfLaunch, CountsWavesOfOneStart) {
  const Occupancy four{.blocks = 4};
  EXPECT_EQ(OccupancyWaves(Blocks(1, 256), four, Gpu()), 1);
  EXPECT_EQ(OccupancyWaves(Blocks(800, 256), four, Gpu()), 2);
  EXPECT_EQ(OccupancyWaves(Blocks(801, 256), four, Gpu()), 3);
  PhaseLaunch halves = Blocks(800, 256);
  halves.waves = 2;
  EXPECT_EQ(OccupancyWaves(halves, four, Gpu()), 1);
}

PhaseWork WorkOf(std::string_view text) {
  const auto nest = ParseLoopNest(text, "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  if (!nest) return {};
  const std::vector<PhaseWork> works = CountPhaseWork(*nest);
  EXPECT_EQ(works.size(), 1);
  return works.at(0);
}

void ExpectTime(const PhaseWork& work, const PhaseLaunch& launch, double seconds, TimeBound bound) {
  const auto time = PredictTime(work, launch, Gpu());
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->seconds, seconds, 1e-6 * seconds);
  EXPECT_EQ(Name(time->bound), Name(bound));
}

TEST(PhaseWork, OfElementsIsMemorysTraffic) {
  const PhaseWork work = WorkOf(R"(
nest scale {
  input A: f32[262144, 256]
  output C: f32[262144, 256]
  phase main {
    grid.x for b in 0 .. 262144 {
      block.x for x in 0 .. 256 {
        s: C[b, x] = A[b, x] * 2.0
      }
    }
  }
}
)");
  constexpr double kElements = 262144.0 * 256;
  EXPECT_EQ(work, (PhaseWork{.operations = kElements,
                             .loads = kElements,
                             .l2_bytes = 8 * kElements,
                             .memory_bytes = 8 * kElements}));
  ExpectTime(work, Blocks(262144, 256), 2e-6 + 8 * kElements / 2e12, TimeBound::kMemory);
}

TEST(PhaseWork, OfAPlainProductIsL2sTraffic) {
  const PhaseWork work = WorkOf(R"(
nest product {
  input A: f32[1024, 1024]
  input B: f32[1024, 1024]
  output C: f32[1024, 1024]
  phase main {
    grid.y for i in 0 .. 1024 {
      grid.x for j in 0 .. 4 {
        block.x for x in 0 .. 256 {
          for k in 0 .. 1024 {
            s: C[i, 256*j + x] sum= A[i, k] * B[k, 256*j + x]
          }
        }
      }
    }
  }
}
)");
  constexpr double kProducts = 1024.0 * 1024 * 1024;
  constexpr double kElements = 1024.0 * 1024;
  // For each k, a warp reads one element of A in one sector, and 32 of B in four. The sum is in a
  // register.
  EXPECT_EQ(work, (PhaseWork{.operations = kProducts,
                             .loads = 2 * kProducts + kElements,
                             .l2_bytes = (1 + 4) * kProducts + 8 * kElements,
                             .memory_bytes = 4 * 4 * kElements}));
  ExpectTime(work, Blocks(4096, 256), 2e-6 + work.l2_bytes / 5e12, TimeBound::kL2);
}

TEST(PhaseWork, CountsSectorsOfWarps) {
  const PhaseWork work = WorkOf(R"(
nest sectors {
  input rows: f32[64, 64]
  input wide: f32[64, 4]
  output C: f32[64, 4]
  local own: f32[64]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc own: register {
        block.x for x in 0 .. 64 {
          s: own[x] = rows[x, 0]
        }
        block.x for y in 0 .. 64 {
          vector for v in 0 .. 4 {
            t: C[y, v] = wide[y, v] + own[y]
          }
        }
      }
    }
  }
}
)");
  // `rows` costs a sector per thread. `wide` and C cost 16 bytes per thread, since whole sectors
  // are used.
  EXPECT_EQ(work.l2_bytes, 64 * 32 + 2 * 64 * 16);
  EXPECT_EQ(work.memory_bytes, 64 * 32 + 2 * 64 * 16);
  EXPECT_EQ(work.loads, 64 + 64);  // a load of 16 bytes counts once
}

TEST(PhaseWork, CountsWhatRegistersHoldOnce) {
  const PhaseWork work = WorkOf(R"(
nest tile {
  input A: f32[64, 2]
  input B: f32[2]
  output C: f32[64, 2]
  phase main {
    grid.x for b in 0 .. 2 {
      block.x for x in 0 .. 32 {
        unrolled for u in 0 .. 2 {
          unrolled for v in 0 .. 2 {
            s: C[32*b + x, u] sum= A[32*b + x, v] * B[u]
          }
        }
      }
    }
  }
}
)");
  // Each thread loads two elements of A, of B and of C once, and reuses them from registers.
  EXPECT_EQ(work.loads, 64 * (2 + 2 + 2));
  EXPECT_EQ(work.operations, 64 * 4);
}

TEST(PhaseWork, TakesEachGatheredElementForASector) {
  const PhaseWork work = WorkOf(R"(
nest gather {
  input table: f32[1000]
  input at: i32[64]
  output C: f32[64]
  phase main {
    grid.x for b in 0 .. 1 {
      block.x for x in 0 .. 64 {
        s:
          @0 = at[x]
          @1 = table[@0]
          C[x] = @1
      }
    }
  }
}
)");
  EXPECT_EQ(work.l2_bytes, 64 * 4 + 64 * 32 + 64 * 4);
  EXPECT_EQ(work.memory_bytes, 64 * 4 + 64 * 32 + 64 * 4);
}

// Each warp computes four tiles of 16 rows and 8 columns, with 16 products per element. The three
// blocks have two warps each.
TEST(PhaseWork, CountsTilesOfWarpsByThemselves) {
  const PhaseWork work = WorkOf(R"(
nest product {
  input A: bf16[3, 32, 64]
  input B: bf16[64, 8]
  output C: f32[3, 32, 8]
  local acc: f32[32, 8]
  phase main {
    grid.x for g in 0 .. 3 {
      alloc acc: fragment {
        block.y for w in 0 .. 2 {
          block.x for l in 0 .. 32 {
            for u in 0 .. 2 {
              for v in 0 .. 2 {
                init: acc[16*w + 8*u + floor(l/4), 2*(l mod 4) + v] = 0.0
              }
            }
          }
        }
        block.y for w in 0 .. 2 {
          for k in 0 .. 4 {
            tile mma.m16n8k16.bf16 {
              for m in 0 .. 16 {
                for r in 0 .. 16 {
                  for n in 0 .. 8 {
                    s: acc[16*w + m, n] sum= f32(A[g, 16*w + m, 16*k + r]) * f32(B[16*k + r, n])
                  }
                }
              }
            }
          }
        }
        block.y for w in 0 .. 2 {
          block.x for l in 0 .. 32 {
            for u in 0 .. 2 {
              for v in 0 .. 2 {
                out:
                  @0 = acc[16*w + 8*u + floor(l/4), 2*(l mod 4) + v]
                  C[g, 16*w + 8*u + floor(l/4), 2*(l mod 4) + v] = @0
              }
            }
          }
        }
      }
    }
  }
}
)");
  EXPECT_EQ(work.matrix_f16, 3 * 32 * 64 * 8);
  EXPECT_EQ(work.matrix_tf32, 0);
  EXPECT_EQ(work.operations, 0);
  EXPECT_EQ(AllOperations(work), work.matrix_f16);
}

TEST(PredictTime, OfTilesIsByTheRateOfTheirTypes) {
  // Each of 100 processors has 3 blocks. A block takes 1e6 clocks per operand type.
  ExpectTime({.matrix_f16 = 300 * 2048e6}, Blocks(300, 256), 2e-6 + 3e-3, TimeBound::kTensorCores);
  ExpectTime({.matrix_tf32 = 300 * 1024e6, .matrix_i8 = 300 * 4096e6}, Blocks(300, 256),
             2e-6 + 6e-3, TimeBound::kTensorCores);
  // A single warp occupies one of four tensor cores.
  ExpectTime({.matrix_f16 = 2048e6}, Blocks(1, 32), 2e-6 + 4e-3, TimeBound::kLatency);
  // Other operations of the threads run concurrently with the tiles.
  ExpectTime({.operations = 300 * 64e6, .matrix_f16 = 300 * 2048e6}, Blocks(300, 256), 2e-6 + 3e-3,
             TimeBound::kTensorCores);
  Accelerator unknown = Gpu();
  unknown.matrix_f16 = 0;
  const auto time = PredictTime({.matrix_f16 = 300 * 128e6}, Blocks(300, 256), unknown);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->seconds, 2e-6 + 3e-3, 1e-9);
}

TEST(PredictTime, NamesItsBound) {
  // Each of 100 processors has 3 blocks, which run at the same time, since 8 blocks fit.
  // Their 24 warps keep all 128 lanes busy.
  ExpectTime({.operations = 300e9}, Blocks(300, 256), 2e-6 + 3e9 / 128e9, TimeBound::kMultiplyAdds);
  // One more block gives one processor a fourth block.
  ExpectTime({.operations = 301e9}, Blocks(301, 256), 2e-6 + 4e9 / 128e9, TimeBound::kMultiplyAdds);
  // A single warp completes an operation every 4 clocks, which is the rate of 8 lanes of 128.
  ExpectTime({.operations = 8e6}, Blocks(1, 32), 2e-6 + 8e6 / 8e9, TimeBound::kLatency);
  // An operation of half a warp takes as long as one of a full warp.
  ExpectTime({.operations = 8e6}, Blocks(1, 16), 2e-6 + 16e6 / 8e9, TimeBound::kLatency);
  // Each thread loads 1000 elements, four in 300 clocks.
  ExpectTime({.loads = 256e3}, Blocks(1, 256), 2e-6 + 250 * 300e-9, TimeBound::kLatency);
  ExpectTime({.memory_bytes = 1000}, Blocks(1, 256), 2e-6 + 1000 / 2e12, TimeBound::kLaunch);
}

TEST(PredictTime, OneProcessorHasItsShareOfL2) {
  ExpectTime({.l2_bytes = 64e6}, Blocks(1, 256), 2e-6 + 1e-3, TimeBound::kL2);
  ExpectTime({.l2_bytes = 50e9}, Blocks(800, 256), 2e-6 + 10e-3, TimeBound::kL2);
}

TEST(PredictTime, CountsStartsAndSpills) {
  PhaseLaunch twice = Blocks(1600, 256);
  twice.waves = 2;
  ExpectTime({.memory_bytes = 2e9}, twice, 2 * (2e-6 + 0.5e-3), TimeBound::kMemory);
  PhaseLaunch spilling = Blocks(1000, 256);
  spilling.spilled_bytes = 1000;
  ExpectTime({}, spilling, 2e-6 + 2 * 1000 * 256e3 / 5e12, TimeBound::kL2);
}

TEST(PredictTime, IsOfEachPhase) {
  const auto nest = ParseLoopNest(R"(
nest two {
  input A: f32[64]
  output C: f32[64]
  phase first {
    grid.x for b in 0 .. 2 {
      block.x for x in 0 .. 32 {
        s: C[32*b + x] = A[32*b + x]
      }
    }
  }
  phase second {
    grid.x for d in 0 .. 2 {
      block.x for y in 0 .. 32 {
        t: C[32*d + y] sum= 1.0
      }
    }
  }
}
)",
                                  "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  KernelImage image{.phases = {Blocks(2, 32), Blocks(2, 32)}};
  const std::vector<PhaseWork> work = CountPhaseWork(*nest);
  const auto phases = PredictPhases(work, image, Gpu());
  ASSERT_TRUE(phases) << phases.error().message;
  ASSERT_EQ(phases->size(), 2);
  EXPECT_EQ(phases->at(0).waves, 1);
  ASSERT_TRUE(phases->at(1).time);
  EXPECT_EQ(phases->at(1).time->bound, TimeBound::kLaunch);
  EXPECT_EQ(phases->at(1).work.loads, 64);

  const Result<double> seconds = PredictSeconds(*phases);
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_DOUBLE_EQ(*seconds, phases->at(0).time->seconds + phases->at(1).time->seconds);

  image.phases[1] = Blocks(2, 1024, 255);
  const Result<double> none = PredictSeconds(*PredictPhases(work, image, Gpu()));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(none.error().message, "a block of k does not fit a processor: registers");

  image.phases.pop_back();
  EXPECT_EQ(PredictPhases(work, image, Gpu()).error().code, ErrorCode::kParse);
}

TEST(PredictTime, WantsTheFactsOfAPart) {
  EXPECT_TRUE(CheckPredicts(Gpu()));
  Accelerator arch = Gpu();
  arch.clock_hertz = 0;
  EXPECT_EQ(CheckPredicts(arch).error().message,
            "no times are predicted: no GPU of sm_90a is known");
}

}  // namespace
}  // namespace tunec
