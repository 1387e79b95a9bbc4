// Tests of loaded and rejected drivers, of error messages, and of the facts about GPUs.
#include "runtime/cuda/load_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "runtime/cuda/driver_error.h"
#include "runtime/cuda/gpu_facts.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string RejectionOf(const std::string& library) {
  const auto driver = LoadCudaDriver(library);
  if (driver) return "none";
  EXPECT_EQ(driver.error().code, ErrorCode::kDevice);
  return driver.error().message;
}

TEST(LoadDriver, FillsTheTable) {
  Script& script = NewScript();
  script.version = 12040;
  const auto driver = LoadCudaDriver(kLibrary);
  ASSERT_TRUE(driver) << driver.error().Format();
  EXPECT_EQ(driver->cuda_version, 12040);
  int count = 0;
  EXPECT_EQ(driver->DeviceGetCount(&count), CuResult::kSuccess);
  EXPECT_EQ(count, 1);
}

TEST(LoadDriver, NoLibraryIsNoDriver) {
  EXPECT_THAT(RejectionOf("/nowhere/libcuda.so.1"),
              AllOf(StartsWith("no NVIDIA driver: /nowhere/libcuda.so.1: "),
                    HasSubstr("install one for CUDA 12.0 or later")));
}

TEST(LoadDriver, AnotherLibraryIsNoDriver) {
  EXPECT_EQ(RejectionOf("libm.so.6"),
            "libm.so.6 is not an NVIDIA driver: it has no cuDriverGetVersion");
}

TEST(LoadDriver, AStubIsNoDriver) {
  NewScript().init = CuResult::kStubLibrary;
  EXPECT_THAT(RejectionOf(kLibrary),
              AllOf(StartsWith(kLibrary + " is the CUDA toolkit's stub"), HasSubstr("error 34")));
}

TEST(LoadDriver, WithoutAGpu) {
  NewScript().init = CuResult::kNoDevice;
  EXPECT_EQ(RejectionOf(kLibrary),
            "the NVIDIA driver finds no GPU (error 100): see nvidia-smi and CUDA_VISIBLE_DEVICES");
}

TEST(LoadDriver, OneThatDoesNotStart) {
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange)
  NewScript().init = static_cast<CuResult>(803);
  EXPECT_THAT(RejectionOf(kLibrary), HasSubstr("does not start (error 803)"));
}

TEST(LoadDriver, AnOldOne) {
  NewScript().version = 11080;
  EXPECT_EQ(RejectionOf(kLibrary),
            "the NVIDIA driver is too old: it supports CUDA 11.8, tunec needs 12.0; install a "
            "newer one");
}

TEST(LoadDriver, OneThatLacksAFunction) {
  NewScript().missing = "cuLaunchKernel";
  EXPECT_EQ(RejectionOf(kLibrary), "the NVIDIA driver in " + kLibrary +
                                       ", of CUDA 13.0, has no cuLaunchKernel: install another");
}

TEST(LoadDriver, TheEnvironmentNamesTheLibrary) {
  setenv("TUNEC_LIBCUDA", "/nowhere/else.so", 1);
  const auto rejected = LoadCudaDriver();
  EXPECT_EQ(FindCudaLibrary().error().message, rejected.error().message);
  NewScript();
  setenv("TUNEC_LIBCUDA", kLibrary.c_str(), 1);
  const auto loaded = LoadCudaDriver();
  EXPECT_EQ(*FindCudaLibrary(), std::filesystem::canonical(kLibrary));
  unsetenv("TUNEC_LIBCUDA");
  ASSERT_FALSE(rejected);
  EXPECT_THAT(rejected.error().message, HasSubstr("/nowhere/else.so"));
  EXPECT_TRUE(loaded);
}

TEST(DriverError, HasNameNumberAndText) {
  NewScript();
  const CudaDriver driver = *LoadCudaDriver(kLibrary);
  EXPECT_EQ(DescribeCuResult(driver, CuResult::kMisalignedAddress),
            "CUDA_ERROR_MISALIGNED_ADDRESS (716): as scripted");
  EXPECT_EQ(DescribeCuResult(driver, static_cast<CuResult>(4711)), "CUDA error 4711");
}

TEST(GpuFacts, AreTheDrivers) {
  Script& script = NewScript();
  script.capabilities = {{8, 6}, {9, 0}};
  const auto all = ReadAllGpuFacts(*LoadCudaDriver(kLibrary));
  ASSERT_TRUE(all) << all.error().Format();
  ASSERT_EQ(all->size(), 2u);
  const GpuFacts& second = all->at(1);
  EXPECT_EQ(Name(second), "NVIDIA S1 (device 1)");
  EXPECT_EQ(second.uuid, "GPU-01020304-0506-0708-090a-0b0c0d0e0f10");
  EXPECT_EQ(second.capability_major, 9);
  EXPECT_EQ(second.capability_minor, 0);
  EXPECT_EQ(all->at(0).capability_minor, 6);
  EXPECT_EQ(second.processors, 132);
  EXPECT_EQ(second.block_shared_bytes, 227 << 10);
  EXPECT_EQ(second.processor_shared_bytes, 228 << 10);
  EXPECT_EQ(second.l2_bytes, 50 << 20);
  EXPECT_EQ(second.memory_bytes, 1 << 20);
}

TEST(GpuFacts, OfAGpuThatIsNotThere) {
  NewScript();
  const auto facts = ReadGpuFacts(*LoadCudaDriver(kLibrary), 3);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ErrorCode::kDevice);
  EXPECT_EQ(facts.error().message,
            "the NVIDIA driver cannot describe GPU 3: CUDA_ERROR_INVALID_DEVICE (101): as "
            "scripted");
}

}  // namespace
}  // namespace tunec
