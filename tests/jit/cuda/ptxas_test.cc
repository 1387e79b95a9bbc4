// What is read from NVIDIA's assembler, and what it makes of our PTX where there is one.
#include "jit/cuda/ptxas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/cuda/arch.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Ptxas, TellsItsVersion) {
  const auto version = PtxasVersion(
      "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.0, V13.0.88\n"
      "Build cuda_13.0.r13.0/compiler.36424714_0\n");
  ASSERT_TRUE(version);
  EXPECT_EQ(*version, "13.0.88");
  EXPECT_FALSE(PtxasVersion("hello"));
}

TEST(Ptxas, OfWrongCodeIsRefused) {
  EXPECT_TRUE(CheckPtxasVersion("11.8.89"));
  EXPECT_FALSE(CheckPtxasVersion("12.3.107"));
  EXPECT_FALSE(CheckPtxasVersion("12.6.84"));
  EXPECT_TRUE(CheckPtxasVersion("12.6.85"));
  EXPECT_TRUE(CheckPtxasVersion("13.0.88"));
}

TEST(Ptxas, SaysWhatAKernelUses) {
  Cubin cubin;
  ReadPtxasOutput(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a_phase0' for 'sm_90a'
ptxas info    : Function properties for a_phase0
    48 bytes stack frame, 20 bytes spill stores, 36 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 48 bytes cumulative stack size
ptxas info    : Compile time = 5.0 ms
ptxas info    : Function properties for a_phase1
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas warning : (C7508) Potential Performance Loss
)",
                  cubin);
  ASSERT_EQ(cubin.uses.size(), 2);
  EXPECT_EQ(cubin.uses[0].symbol, "a_phase0");
  EXPECT_EQ(cubin.uses[0].registers, 255);
  EXPECT_EQ(cubin.uses[0].spilled_bytes, 36);
  EXPECT_EQ(cubin.uses[0].stack_bytes, 48);
  EXPECT_EQ(cubin.uses[0].barriers, 1);
  EXPECT_EQ(cubin.uses[1].registers, 8);
  EXPECT_EQ(cubin.uses[1].barriers, 0);
  EXPECT_THAT(cubin.warnings, ElementsAre(HasSubstr("C7508")));
}

TEST(CudaArchs, ImplyWhatCameBefore) {
  EXPECT_THAT(CudaFeatures(*FindCudaArch("sm_90a")),
              ElementsAre("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"));
  EXPECT_THAT(CudaFeatures(*FindCudaArch("sm_86")), ElementsAre("sm_80", "sm_86"));
  EXPECT_FALSE(CudaFeatures(*FindCudaArch("sm_100")).contains("sm_90a"));
  const auto unknown = CudaAccelerator("sm_70");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("unknown arch 'sm_70', expected one of sm_80, "));
}

}  // namespace
}  // namespace tunec
