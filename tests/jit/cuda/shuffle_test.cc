// What threads of a warp read from each other's registers: on the emulated GPU, and as PTX.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/interpret/interpret.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/cuda_generator.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/warp_shuffle.h"
#include "jit/cuda/ptxas.h"
#include "tests/jit/nest_runner.h"
#include "tests/jit/reduced_nest.h"

namespace tunec::jit_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ShuffleOf : public testing::TestWithParam<std::string> {};

TEST_P(ShuffleOf, EveryType) {
  const std::string type = GetParam();
  const std::string zero = type.starts_with("i") ? "0" + type : "0.0" + (type == "f32" ? "" : type);
  ExpectAsInterpreted(ReducedNest(type, "barrier", zero),
                      type == "f16" || type == "bf16" ? 0.1 : 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Types, ShuffleOf,
                         testing::Values("f32", "f64", "f16", "bf16", "i8", "i32", "i64"),
                         [](const auto& info) { return info.param; });

// Warps of several rows of threads, the last of them not full.
TEST(Shuffle, StaysInItsRow) {
  ExpectAsInterpreted(R"(
nest rows {
  input A: f32[5, 8]
  output C: f32[5, 8]
  local own: f32[5, 8]
  local other: f32[5, 8]
  phase main {
    alloc own: register {
      alloc other: register {
        block.y for y in 0 .. 5 {
          block.x for x in 0 .. 8 {
            take: own[y, x] = A[y, x]
          }
        }
        block.y for y in 0 .. 5 {
          block.x for x in 0 .. 8 {
            shuffle other[y, x] = own[y, x] of x xor 4
          }
        }
        block.y for y in 0 .. 5 {
          block.x for x in 0 .. 8 {
            give: C[y, x] = other[y, x] - own[y, x]
          }
        }
      }
    }
  }
}
)");
}

std::string Divergent(const std::string& loop) {
  return fmt::format(R"(
nest divergent {{
  output C: f32[64]
  local own: f32[64]
  local other: f32[64]
  phase main {{
    grid.x for b in 0 .. 1 {{
      alloc own: register {{
        alloc other: register {{
          block.x for t in 0 .. 64 {{
            take: own[t] = index_f32(t)
          }}
          {} {{
            shuffle other[t] = own[t] of t xor 1
          }}
          block.x for t in 0 .. 64 {{
            give: C[t] = own[t]
          }}
        }}
      }}
    }}
  }}
}}
)",
                     loop);
}

TEST(ShuffleDeathTest, FindsOneThatIsNotForTheWholeWarp) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not know the emulation's stacks";
  // Written by hand: no nest that verifies has one.
  const auto nest = ParseLoopNest(Divergent("block.x for t in 0 .. 40"), "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  EXPECT_THAT(Verify(*nest).error().message, HasSubstr("alone in loops over all threads"));
  for (const EmulationMode mode : {EmulationMode::kPlain, EmulationMode::kChecked}) {
    const auto image = CompileEmulated(*nest, mode);
    ASSERT_TRUE(image) << image.error().message;
    const auto kernel = LoadEmulated(*image);
    ASSERT_TRUE(kernel) << kernel.error().message;
    float c[64] = {};
    void* arguments[] = {c};
    EXPECT_DEATH(kernel->phases[0].function(arguments, nullptr, nullptr, 0),
                 "divergent_phase0, block 0, warp of thread 32: lane 8 is in none, but lane 0 in "
                 "shuffle 1: a shuffle is for the whole warp");
  }
}

TEST(WarpShuffle, IsForTheLanesThatTheWarpHas) {
  const std::vector<WarpShuffle> right = {{1, 3, 10, 1}, {1, 3, 20, 1}};
  EXPECT_EQ(WhyDivergent(right), "");
  std::vector<WarpShuffle> exchanged = right;
  Exchange(exchanged);
  EXPECT_EQ(exchanged[0].value, 20);
  EXPECT_EQ(exchanged[1].value, 10);
  const std::vector<WarpShuffle> others = {{1, 7, 10, 1}, {1, 7, 20, 1}};
  EXPECT_THAT(WhyDivergent(others), HasSubstr("waits for the lanes 0x7"));
  const std::vector<WarpShuffle> nobody = {{1, 3, 10, 2}, {1, 3, 20, 2}};
  EXPECT_THAT(WhyDivergent(nobody), HasSubstr("reads lane 2"));
  const std::vector<WarpShuffle> none = {{}, {}};
  EXPECT_EQ(WhyDivergent(none), "");
}

TEST(Shuffle, WhatWarpsLeaveIsReadBehindABarrier) {
  const LoopNest nest = Parse(ReducedNest("f32", ""));
  const auto results = Interpret(nest, RandomArguments(nest, 1), Precision::kNative);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message, HasSubstr("race: read by thread (0, 0, 0) in end, which "
                                                 "thread (32, 0, 0) writes in put"));
}

TEST(ShuffleDeathTest, ACheckedKernelFindsTheMissingBarrierBetweenWarps) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not know the emulation's stacks";
  const auto nest = ParseLoopNest(ReducedNest("f32", ""), "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  const auto image =
      CompileEmulated(MakeCudaGenerator()->MapThreads(*nest), EmulationMode::kChecked);
  ASSERT_TRUE(image) << image.error().message;
  const auto kernel = LoadEmulated(*image);
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::vector<float> a(3 * 64, 1.0F);
  float c[3] = {};
  void* arguments[] = {a.data(), c};
  EXPECT_DEATH(kernel->phases[0].function(arguments, nullptr, nullptr, 0),
               "end reads 4 bytes of parts at shared memory .*: nobody wrote that");
}

LoopNest Mapped(const std::string& text) {
  const auto nest = ParseLoopNest(text, "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  return MakeCudaGenerator()->MapThreads(*nest);
}

TEST(Shuffle, IsOneInstructionOfAWarp) {
  const Target target{.device = *CudaAccelerator("sm_80")};
  const auto ptx = MakeCudaGenerator()->Show(Mapped(ReducedNest()), target, CodeText::kAssembly);
  ASSERT_TRUE(ptx) << ptx.error().message;
  for (const int distance : {16, 8, 4, 2, 1})
    EXPECT_THAT(*ptx, HasSubstr(fmt::format(", {}, 31, -1;", distance)));
  EXPECT_THAT(*ptx, HasSubstr("shfl.sync.bfly.b32"));
  EXPECT_THAT(*ptx, Not(HasSubstr(".local")));
}

TEST(Shuffle, IsAssembled) {
  if (const auto ptxas = FindPtxas(); !ptxas) {
    ASSERT_EQ(std::getenv("TUNEC_REQUIRE_PTXAS"), nullptr) << ptxas.error().message;
    GTEST_SKIP() << ptxas.error().message;
  }
  const Target target{.device = *CudaAccelerator("sm_80")};
  const auto image = MakeCudaGenerator()->Compile(Mapped(ReducedNest()), target);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->phases[0].spilled_bytes, 0);
  EXPECT_EQ(image->phases[0].local_bytes, 0);
}

}  // namespace
}  // namespace tunec::jit_test
