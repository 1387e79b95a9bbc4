// Tests of the checks of ptxas's version and output, and of the known architectures and GPUs.
#include "jit/cuda/ptxas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/cuda/arch.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Ptxas, TellsItsVersion) {
  const auto version = ToolkitVersion(
      "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.0, V13.0.88\n"
      "Build cuda_13.0.r13.0/compiler.36424714_0\n");
  ASSERT_TRUE(version);
  EXPECT_EQ(*version, "13.0.88");
  EXPECT_FALSE(ToolkitVersion("hello"));
}

TEST(Ptxas, OfWrongCodeIsRejected) {
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

// A warning C75xx says that ptxas changed the kernel. Only such a warning is an error.
TEST(Ptxas, MustNotChangeTheKernel) {
  Cubin cubin{.warnings = {"ptxas warning : Value of threads per SM is out of range"}};
  EXPECT_TRUE(CheckPtxasWarnings(cubin));
  cubin.warnings.emplace_back(
      "ptxas warning : (C7510) Potential Performance Loss: wgmma.mma_async serialized");
  const Status changed = CheckPtxasWarnings(cubin);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(changed.error().message, HasSubstr("(C7510) Potential Performance Loss: wgmma"));
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

TEST(CudaParts, AreAssumedOrNamed) {
  const Accelerator h100 = *CudaAccelerator("sm_90a");
  EXPECT_EQ(h100.part, "h100");
  EXPECT_EQ(h100.processors, 132);
  EXPECT_EQ(h100.resident_threads, 2048);
  EXPECT_EQ(CudaAccelerator("sm_90a", "h200")->bytes_per_second, 4800000000000);
  EXPECT_EQ(CudaAccelerator("sm_80")->multiply_adds, 64);
  const auto other = CudaAccelerator("sm_80", "h200");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "unknown gpu 'h200' of sm_80, expected one of a100, a100-40gb");
  // The limits of sm_103 are known, but no GPU with this architecture is known.
  EXPECT_EQ(CudaAccelerator("sm_103")->part, "");
  EXPECT_EQ(CudaAccelerator("sm_103")->resident_threads, 2048);
  EXPECT_EQ(CudaAccelerator("sm_103")->clock_hertz, 0);
  EXPECT_FALSE(CudaAccelerator("sm_103", "h200"));
}

// Compares the computed float32 rates with published ones, in TFLOP/s. A multiply-add counts as two
// operations.
TEST(CudaParts, HaveTheirPublishedRates) {
  const auto tera = [](std::string_view arch, std::string_view part) {
    const Accelerator gpu = *CudaAccelerator(arch, part);
    return 2e-12 * static_cast<double>(gpu.multiply_adds) * gpu.processors *
           static_cast<double>(gpu.clock_hertz);
  };
  EXPECT_NEAR(tera("sm_80", "a100"), 19.5, 0.1);
  EXPECT_NEAR(tera("sm_86", "a10"), 31.2, 0.1);
  EXPECT_NEAR(tera("sm_86", "rtx3090"), 35.6, 0.1);
  EXPECT_NEAR(tera("sm_89", "l40s"), 91.6, 0.1);
  EXPECT_NEAR(tera("sm_89", "rtx4090"), 82.6, 0.1);
  EXPECT_NEAR(tera("sm_90a", "h100"), 67, 0.2);
  EXPECT_NEAR(tera("sm_90a", "h100-pcie"), 51, 0.3);
  EXPECT_NEAR(tera("sm_100a", "b200"), 75, 0.1);
  EXPECT_NEAR(tera("sm_120", "rtx5090"), 104.8, 0.1);
}

// Compares the rates of dense products of bfloat16 with float32 sums, and of int8, with published
// ones. The published rates of H100 and B200 are less than a tenth below the computed rates.
TEST(CudaParts, HaveTheRatesOfTheirTensorCores) {
  const auto expect = [](std::string_view arch, std::string_view part, double bf16, double int8) {
    const Accelerator gpu = *CudaAccelerator(arch, part);
    const double clocks = 2e-12 * gpu.processors * static_cast<double>(gpu.clock_hertz);
    EXPECT_NEAR(clocks * static_cast<double>(gpu.matrix_f16) / bf16, 1, 0.1) << part;
    EXPECT_NEAR(clocks * static_cast<double>(gpu.matrix_i8) / int8, 1, 0.1) << part;
    EXPECT_EQ(gpu.matrix_tf32, gpu.matrix_f16 / 2) << part;
  };
  expect("sm_80", "a100", 312, 624);
  expect("sm_86", "a10", 125, 250);
  expect("sm_86", "rtx3090", 71, 284);
  expect("sm_89", "l40s", 362, 733);
  expect("sm_89", "rtx4090", 165.2, 660.6);
  expect("sm_90a", "h100", 989, 1979);
  expect("sm_90a", "h100-pcie", 756, 1513);
  expect("sm_100a", "b200", 2250, 4500);
  expect("sm_120", "rtx5090", 209.5, 838);
  EXPECT_EQ(CudaAccelerator("sm_103")->matrix_f16, 0);
}

}  // namespace
}  // namespace tunec
