// Tests of shuffles between the threads of a warp, on a CPU, on the emulated GPU and as PTX.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/cuda_generator.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/warp_operation.h"
#include "tests/jit/cuda/need_ptxas.h"
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

// The first warp has four rows of threads. The second warp has one row and is partial.
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
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  // Parse cannot be used, because the verifier rejects shuffles of a part of the threads.
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
    EXPECT_DEATH(
        kernel->phases[0].function(arguments, nullptr, nullptr, 0),
        "divergent_phase0, block 0, warp of thread 32: lane 8 is at its end, but lane 0 at "
        "shfl.sync 1: all lanes of a warp must come together");
  }
}

// Returns the stops of this many lanes, which all wait in `operation` at site 1.
std::vector<ThreadStop> StopsIn(const WarpOperation& operation, size_t lanes) {
  return {lanes, {.ended = false, .site = 1, .operation = &operation}};
}

TEST(WarpOperations, AreForTheLanesThatTheWarpHas) {
  const RegisterShuffle shuffle(/*members=*/3, /*distance=*/1);
  EXPECT_EQ(DescribeDivergence(StopsIn(shuffle, 2)), "");
  EXPECT_EQ(DescribeDivergence(StopsIn(shuffle, 1)),
            "lane 0 waits for the lanes 0x3 at shfl.sync 1, the warp has 0x1");
  const RegisterShuffle others(/*members=*/7, /*distance=*/1);
  EXPECT_EQ(DescribeDivergence(StopsIn(others, 2)),
            "lane 0 waits for the lanes 0x7 at shfl.sync 1, the warp has 0x3");
  // A load of matrices always needs 32 lanes.
  const MatrixLoad load(/*matrices=*/4, /*transposed=*/false);
  EXPECT_EQ(DescribeDivergence(StopsIn(load, 32)), "");
  EXPECT_EQ(DescribeDivergence(StopsIn(load, 16)),
            "lane 0 waits for the lanes 0xffffffff at ldmatrix 1, the warp has 0xffff");
  // No lane is in a warp operation. Block::CheckTogether checks stops at barriers.
  const std::vector<ThreadStop> none = {{.ended = false, .site = 2}, {}};
  EXPECT_EQ(DescribeDivergence(none), "");
}

TEST(WarpOperations, AreOneForAllLanes) {
  const RegisterShuffle shuffle(/*members=*/7, /*distance=*/1);
  const auto with_second = [&](const ThreadStop& second) {
    std::vector<ThreadStop> lanes = StopsIn(shuffle, 3);
    lanes[1] = second;
    return DescribeDivergence(lanes);
  };
  EXPECT_EQ(
      with_second({}),
      "lane 1 is at its end, but lane 0 at shfl.sync 1: all lanes of a warp must come together");
  // Lane 1 is at barrier 1, and the other lanes are at shuffle 1.
  EXPECT_THAT(with_second({.ended = false, .site = 1}), HasSubstr("lane 1 is at barrier 1, but"));
  EXPECT_THAT(with_second({.ended = false, .site = 2, .operation = &shuffle}),
              HasSubstr("lane 1 is at shfl.sync 2, but lane 0 at shfl.sync 1"));
  const RegisterShuffle alone(/*members=*/2, /*distance=*/1);
  EXPECT_THAT(with_second({.ended = false, .site = 1, .operation = &alone}),
              HasSubstr("lane 1 waits for the lanes 0x2"));
}

std::vector<uint32_t> Shuffled(std::vector<uint32_t> values, uint32_t distance) {
  std::vector<LaneRegisters> lanes;
  for (uint32_t& value : values) lanes.push_back(&value);
  const auto members = static_cast<uint32_t>((uint64_t{1} << values.size()) - 1);
  RegisterShuffle(members, distance).Run(lanes);
  return values;
}

TEST(WarpOperations, ShuffleRegisters) {
  EXPECT_EQ(Shuffled({10, 20, 30, 40}, 1), (std::vector<uint32_t>{20, 10, 40, 30}));
  EXPECT_EQ(Shuffled({10, 20, 30, 40}, 2), (std::vector<uint32_t>{30, 40, 10, 20}));
}

TEST(WarpOperationsDeathTest, ShuffleNothingOutOfOtherWarps) {
  EXPECT_DEATH(Shuffled({10, 20}, 2), "lane 0 reads lane 2, the warp has 2");
}

TEST(Shuffle, WhatWarpsLeaveIsReadBehindABarrier) {
  const LoopNest nest = Parse(ReducedNest("f32", ""));
  const auto results = Interpret(nest, RandomArguments(nest, 1), Precision::kNative);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message, HasSubstr("race: read by thread (0, 0, 0) in end, which "
                                                 "thread (32, 0, 0) writes in put"));
}

TEST(ShuffleDeathTest, ACheckedKernelFindsTheMissingBarrierBetweenWarps) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const auto nest = ParseLoopNest(ReducedNest("f32", ""), "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  const auto image =
      CompileEmulated(*MakeCudaGenerator()->MapThreads(*nest), EmulationMode::kChecked);
  ASSERT_TRUE(image) << image.error().message;
  const auto kernel = LoadEmulated(*image);
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::vector<float> a(3 * 64, 1.0F);
  float c[3] = {};
  void* arguments[] = {a.data(), c};
  EXPECT_DEATH(kernel->phases[0].function(arguments, nullptr, nullptr, 0),
               "end reads 4 bytes of parts at shared memory .*: the memory was never written");
}

LoopNest Mapped(const std::string& text) {
  const auto nest = ParseLoopNest(text, "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  return *MakeCudaGenerator()->MapThreads(*nest);
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
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const Target target{.device = *CudaAccelerator("sm_80")};
  const auto image = MakeCudaGenerator()->Compile(Mapped(ReducedNest()), target);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->phases[0].spilled_bytes, 0);
  EXPECT_EQ(image->phases[0].local_bytes, 0);
}

}  // namespace
}  // namespace tunec::jit_test
