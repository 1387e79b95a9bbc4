// Tests of the PTX of kernels. One kernel is also assembled for every arch if ptxas is available.
#include "jit/cuda/cuda_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/cuda/arch.h"
#include "runtime/cuda/cubin.h"
#include "tests/jit/block_nests.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/jit/nest_runner.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Target CudaTarget(const std::string& arch) { return {.device = *CudaAccelerator(arch)}; }

LoopNest Mapped(const std::string& text) {
  const auto nest = ParseLoopNest(text, "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  return *MakeCudaGenerator()->MapThreads(*nest);
}

TEST(CudaGenerator, WritesKernels) {
  const auto ptx = MakeCudaGenerator()->Show(Mapped(std::string(jit_test::kSharedNest)),
                                             CudaTarget("sm_90a"), CodeText::kAssembly);
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_THAT(*ptx, HasSubstr(".target sm_90a"));
  EXPECT_THAT(*ptx, HasSubstr(".visible .entry shared_phase0("));
  EXPECT_THAT(*ptx, HasSubstr(".reqntid 16"));
  EXPECT_THAT(*ptx, HasSubstr("bar.sync"));
  EXPECT_THAT(*ptx, HasSubstr("st.shared.b32"));
  EXPECT_THAT(*ptx, HasSubstr("ld.global.nc.b32"));
  EXPECT_THAT(*ptx, Not(HasSubstr(".local")));  // all values are in registers
}

// Arguments may have any alignment. If they are aligned for vectors, one instruction moves 16
// bytes.
TEST(CudaGenerator, MovesSixteenBytesWhereTheyAreAligned) {
  const auto ptx = MakeCudaGenerator()->Show(Mapped(R"(
nest vectors {
  input A: f32[1024]
  input H: bf16[1024]
  output C: f32[1024]
  phase main {
    grid.x for b in 0 .. 4 {
      block.x for x in 0 .. 32 {
        vector for v in 0 .. 8 {
          s: C[256*b + 8*x + v] = A[256*b + 8*x + v] + f32(H[256*b + 8*x + v])
        }
      }
    }
  }
}
)"),
                                             CudaTarget("sm_90a"), CodeText::kAssembly);
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_THAT(*ptx, HasSubstr("ld.global.nc.v4"));
  EXPECT_THAT(*ptx, HasSubstr("st.global.v4"));
  EXPECT_THAT(*ptx, HasSubstr("ld.global.nc.b16"));
  EXPECT_THAT(*ptx, HasSubstr("st.global.b32"));
}

TEST(CudaGenerator, LoadsNeighboursTogether) {
  const auto ptx = MakeCudaGenerator()->Show(Mapped(R"(
nest neighbours {
  input A: f32[256] align 64
  output C: f32[64]
  phase main {
    block.x for x in 0 .. 64 {
      s: C[x] = A[4*x] + A[4*x + 1] + A[4*x + 2] + A[4*x + 3]
    }
  }
}
)"),
                                             CudaTarget("sm_90a"), CodeText::kAssembly);
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_THAT(*ptx, HasSubstr("ld.global.nc.v4"));
  EXPECT_THAT(*ptx, Not(HasSubstr("ld.global.nc.b32")));
}

TEST(CudaGenerator, KeepsWithinADevicesLimits) {
  const auto deep =
      MakeCudaGenerator()->Compile(Mapped(std::string(jit_test::kDeepNest)), CudaTarget("sm_90a"));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message,
              HasSubstr("128 threads a block along z, sm_90a has at most 64"));
}

class EveryArch : public testing::TestWithParam<std::string> {};

TEST_P(EveryArch, IsAssembled) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const auto image = MakeCudaGenerator()->Compile(Mapped(std::string(jit_test::kSharedNest)),
                                                  CudaTarget(GetParam()));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->format, kCubinFormat);
  EXPECT_TRUE(CheckCubin(image->bytes));
  EXPECT_THAT(image->bytes, HasSubstr("shared_phase0"));
  ASSERT_EQ(image->phases.size(), 1);
  EXPECT_EQ(image->phases[0].Blocks(), 18);
  EXPECT_EQ(image->phases[0].block[0], 16);
  EXPECT_EQ(image->phases[0].shared_bytes, 128);
  EXPECT_GT(image->phases[0].registers, 0);
}

std::vector<std::string> ArchNames() {
  std::vector<std::string> names;
  for (const CudaArch& arch : CudaArchs()) names.emplace_back(arch.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Archs, EveryArch, testing::ValuesIn(ArchNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tunec
