// Tests of detecting and choosing a GPU, and of the error messages if no GPU is suitable.
#include "device/open_gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/open_device.h"
#include "jit/cuda/ptxas.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/load_driver.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using ::testing::EndsWith;
using ::testing::StartsWith;

// The runtime parses compute capabilities from the names of archs. They must agree with CudaArchs.
TEST(CudaArchs, RunFromTheirCapabilityOn) {
  for (const CudaArch& arch : CudaArchs()) {
    for (int major = 7; major < 14; ++major) {
      for (int minor = 0; minor < 10; ++minor) {
        const GpuFacts gpu{.capability_major = major, .capability_minor = minor};
        const bool same = CapabilityOf(gpu) == arch.capability;
        const bool later = fmt::format("{}.", major) ==
                               std::string(arch.capability.substr(0, arch.capability.size() - 1)) &&
                           minor >= arch.capability.back() - '0';
        EXPECT_EQ(CanRunCubinsFor(arch.name, gpu), arch.IsSpecific() ? same : later)
            << arch.name << " on " << CapabilityOf(gpu);
      }
    }
  }
}

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor)
class WithScript : public ::testing::Test {
 protected:
  WithScript() { setenv("TUNEC_LIBCUDA", kLibrary.c_str(), 1); }
  ~WithScript() override { unsetenv("TUNEC_LIBCUDA"); }

  Script& script_ = NewScript();
};

using DetectCudaTest = WithScript;

TEST_F(DetectCudaTest, TakesTheMostParticularArch) {
  script_.capabilities = {{8, 7}, {9, 0}, {10, 3}, {12, 1}};
  const CudaDriver driver = *LoadCudaDriver();
  EXPECT_EQ(DetectCuda()->name, "sm_86");
  EXPECT_EQ(DetectCuda(driver, 1)->name, "sm_90a");
  EXPECT_EQ(DetectCuda(driver, 2)->name, "sm_103a");
  EXPECT_EQ(DetectCuda(driver, 3)->name, "sm_120");
}

TEST_F(DetectCudaTest, KnowsItsSize) {
  const auto device = DetectCuda();
  ASSERT_TRUE(device) << device.error().Format();
  EXPECT_EQ(device->kind, kCudaKind);
  EXPECT_EQ(device->features, CudaFeatures(*FindCudaArch("sm_90a")));
  EXPECT_EQ(device->processors, 132);
  EXPECT_EQ(device->shared_bytes, 227 << 10);
}

TEST_F(DetectCudaTest, RejectsAnOldGpu) {
  script_.capabilities = {{7, 5}};
  const auto device = DetectCuda();
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kDevice);
  EXPECT_EQ(device.error().message,
            "no code is generated for NVIDIA S1 (device 0), whose compute capability is 7.5");
}

class OpenGpuTest : public WithScript {
 protected:
  ThreadPool pool_{1};
  Target target_{.device = *CudaAccelerator("sm_90a")};
};

TEST_F(OpenGpuTest, TakesTheFirstThatRunsTheCode) {
  script_.capabilities = {{8, 0}, {9, 0}};
  EXPECT_TRUE(CheckRunsHere(target_));
  EXPECT_TRUE(CheckTimesHere(target_));
  const auto device = OpenDevice(target_, pool_);
  ASSERT_TRUE(device) << device.error().Format();
  script_.memory_bytes = 10;
  EXPECT_EQ((*device)->Allocate(11).error().message,
            "NVIDIA S1 (device 1) has no 11 bytes free, only 10 of 10");
}

TEST_F(OpenGpuTest, TakesTheOneThatIsChosen) {
  script_.capabilities = {{9, 0}, {9, 0}, {8, 0}};
  for (const char* const choice : {"1", "GPU-01020304-0506-0708-090a-0b0c0d0e0f10"}) {
    EXPECT_TRUE(CheckRunsHere(target_, {.name = choice}));
    const auto device = OpenDevice(target_, pool_, PerfMap::kOff, {.name = choice});
    ASSERT_TRUE(device) << device.error().Format();
    EXPECT_EQ((*device)->Number(), 1);
    EXPECT_EQ(DetectCuda(choice)->name, "sm_90a");
    EXPECT_EQ(DeviceIdentity(target_, {.name = choice}),
              "GPU-01020304-0506-0708-090a-0b0c0d0e0f10");
  }
  EXPECT_EQ(DetectCuda("2")->name, "sm_80");
  EXPECT_EQ(OpenDevice(target_, pool_, PerfMap::kOff, {.name = "2"}).error().message,
            "no GPU runs code for sm_90a: NVIDIA S1 (device 2) has compute capability 8.0");
  script_.capabilities = {{9, 0}};
  const std::string none =
      "this machine has no GPU '1'; it has NVIDIA S1 (device 0), "
      "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
  EXPECT_EQ(CheckRunsHere(target_, {.name = "1"}).error().message, none);
  EXPECT_EQ(DetectCuda("1").error().message, none);
}

TEST_F(OpenGpuTest, IsIdentifiedByItsUuid) {
  EXPECT_EQ(DeviceIdentity(target_), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  script_.capabilities = {{8, 0}};
  EXPECT_EQ(DeviceIdentity(target_), "cuda");
  target_.device->features.emplace(kEmulated);
  EXPECT_EQ(DeviceIdentity(target_), "cpu");
  EXPECT_EQ(DeviceIdentity({.host = target_.host}), "cpu");
}

TEST_F(OpenGpuTest, NamesThoseThatDoNotRunIt) {
  script_.capabilities = {{8, 0}, {10, 0}};
  const auto device = OpenDevice(target_, pool_);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kDevice);
  EXPECT_EQ(device.error().message,
            "no GPU runs code for sm_90a: NVIDIA S1 (device 0) has compute capability 8.0, NVIDIA "
            "S1 (device 1) has compute capability 10.0");
}

TEST_F(OpenGpuTest, SaysWhatIsWrongWithTheDriver) {
  script_.version = 11080;
  const Status here = CheckRunsHere(target_);
  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().code, ErrorCode::kDevice);
  EXPECT_THAT(here.error().message, StartsWith("the NVIDIA driver is too old"));
  EXPECT_EQ(OpenDevice(target_, pool_).error().message, here.error().message);
}

TEST_F(OpenGpuTest, AnEmulatedOneNeedsNoDriver) {
  setenv("TUNEC_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  EXPECT_FALSE(CheckRunsHere(target_));
  const Target gpu = target_;
  EXPECT_FALSE(EmulatedTarget(gpu));
  target_.device->features.emplace(kEmulated);
  EXPECT_TRUE(OpenDevice(target_, pool_));
  EXPECT_EQ(EmulatedTarget(target_), gpu);
  target_.device->features.emplace(kChecked);
  EXPECT_EQ(EmulatedTarget(target_), gpu);
}

// Without a GPU, times cannot be measured. With ptxas, times of an emulated GPU can be predicted.
TEST_F(OpenGpuTest, WithoutOneTheEmulationIsNamed) {
  setenv("TUNEC_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  const Status here = CheckTimesHere(target_);
  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().code, ErrorCode::kDevice);
  EXPECT_THAT(here.error().message,
              EndsWith("; with --emulate, candidates are ranked by predicted times"));
  target_.device->features.emplace(kEmulated);
  EXPECT_EQ(CheckTimesHere(target_).has_value(), FindPtxas().has_value());
}

}  // namespace
}  // namespace tunec
