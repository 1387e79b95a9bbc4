// Tests of a GPU through the Device interface, on a driver that runs the test's script.
#include "runtime/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "runtime/cuda/load_driver.h"
#include "tests/runtime/cuda/sums_kernel.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CudaDeviceTest : public ::testing::Test {
 protected:
  CudaDeviceTest() {
    script_.functions = {"first", "second"};
    script_.run = RunSums;
    auto device = OpenCudaDevice(*LoadCudaDriver(kLibrary), 0);
    TUNEC_CHECK(device, "{}", device.error().Format());
    device_ = *std::move(device);
  }

  // Checks that all resources are released, also after a fault.
  void TearDown() override {
    device_.reset();
    EXPECT_EQ(script_.contexts, 0);
    EXPECT_EQ(script_.allocations, 0);
    EXPECT_EQ(script_.streams_events, 0);
    EXPECT_EQ(script_.modules, 0);
  }

  Script& script_ = NewScript();
  std::unique_ptr<Device> device_;
};

// The kernel of SumsImage, bound to memory for its input, output and workspace.
struct Sums {
  DeviceMemory in, out, workspace;
  std::unique_ptr<DeviceKernel> kernel;

  explicit Sums(Device& device)
      : in(*device.Allocate(kSumsBytes)),
        out(*device.Allocate(kSumsBytes)),
        workspace(*device.Allocate(kSumsBytes)),
        kernel(*device.Bind(*device.Load(SumsImage()), {in.address, out.address},
                            workspace.address)) {}
};

TEST_F(CudaDeviceTest, RunsPhasesInWavesOnItsMemory) {
  const Sums sums(*device_);
  std::array<float, kFloats> values{};
  for (size_t i = 0; i < kFloats; ++i) values[i] = static_cast<float>(i);
  ASSERT_TRUE(device_->CopyIn(sums.in.address, values.data(), kSumsBytes));
  sums.kernel->Start();
  ASSERT_TRUE(device_->Synchronize());
  std::array<float, kFloats> results{};
  ASSERT_TRUE(device_->CopyOut(results.data(), sums.out.address, kSumsBytes));
  for (size_t i = 0; i < kFloats; ++i) EXPECT_EQ(results[i], 2 * (values[i] + 1)) << i;
  EXPECT_THAT(script_.log,
              ElementsAre("load", "copy 48 in", "launch first grid 2x1x1 block 2x1x1 shared 0",
                          "launch first grid 2x1x1 block 2x1x1 shared 0",
                          "launch first grid 2x1x1 block 2x1x1 shared 0",
                          "launch second grid 3x1x1 block 4x2x1 shared 65536", "copy 48 out"));
}

TEST_F(CudaDeviceTest, CodeIsLoadedOnceAndBoundOften) {
  const auto code = device_->Load(SumsImage());
  ASSERT_TRUE(code) << code.error().Format();
  EXPECT_EQ((*code)->OnHost(), nullptr);
  const DeviceMemory memory = *device_->Allocate(4 * kSumsBytes);
  const auto at = [&](size_t part) {
    return static_cast<std::byte*>(memory.address) + part * kSumsBytes;
  };
  const auto one = *device_->Bind(*code, {at(0), at(1)}, at(2));
  const auto two = *device_->Bind(*code, {at(0), at(3)}, at(2));
  ASSERT_TRUE(device_->Fill(at(0), std::byte{0}, kSumsBytes));
  one->Start();
  two->Start();
  std::array<float, 3 * kFloats> results{};
  ASSERT_TRUE(device_->CopyOut(results.data(), at(1), sizeof(results)));
  EXPECT_EQ(results[0], 2);
  EXPECT_EQ(results[2 * kFloats], 2);
  EXPECT_EQ(script_.modules, 1);
  EXPECT_THAT(script_.log, Contains("load").Times(1));
}

TEST_F(CudaDeviceTest, MemoryIsGivenBack) {
  const size_t before = script_.allocated_bytes;
  {
    const DeviceMemory memory = *device_->Allocate(1000);
    EXPECT_EQ(memory.on_host, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.address) % 64, 0u);
    const DeviceMemory none = *device_->Allocate(0);
    EXPECT_NE(none.address, nullptr);
    EXPECT_TRUE(device_->CopyIn(none.address, nullptr, 0));
    EXPECT_TRUE(device_->Fill(none.address, std::byte{1}, 0));
    EXPECT_GE(script_.allocated_bytes, before + 1000);
  }
  EXPECT_EQ(script_.allocated_bytes, before);
}

TEST_F(CudaDeviceTest, PoisonIsNan) {
  const Sums sums(*device_);
  sums.kernel->Poison();
  std::array<float, kFloats> results{};
  ASSERT_TRUE(device_->CopyOut(results.data(), sums.workspace.address, kSumsBytes));
  EXPECT_THAT(results, Each(::testing::IsNan()));
}

TEST_F(CudaDeviceTest, SecondsAreItsClocks) {
  const Sums sums(*device_);
  sums.kernel->Start();
  const auto seconds = sums.kernel->Seconds(5);  // of four launches, a millisecond each
  ASSERT_TRUE(seconds) << seconds.error().Format();
  EXPECT_NEAR(*seconds, 20e-3, 1e-9);
}

TEST_F(CudaDeviceTest, APhaseWithoutBlocksIsNotLaunched) {
  KernelImage image = SumsImage();
  image.phases[0].grid = {0, 1, 1};
  image.phases[0].waves = 1;
  const DeviceMemory memory = *device_->Allocate(kSumsBytes);
  const auto kernel =
      device_->Bind(*device_->Load(image), {memory.address, memory.address}, memory.address);
  ASSERT_TRUE(kernel);
  (*kernel)->Start();
  EXPECT_TRUE(device_->Synchronize());
  EXPECT_EQ(script_.launches, 1);
}

TEST_F(CudaDeviceTest, TheCallersContextStays) {
  CudaDriver driver = *LoadCudaDriver(kLibrary);
  CuContext context = nullptr;
  const Sums sums(*device_);
  sums.kernel->Start();
  EXPECT_TRUE(device_->Synchronize());
  EXPECT_NE(driver.CtxPopCurrent(&context), CuResult::kSuccess);  // the context stack is empty
}

TEST_F(CudaDeviceTest, WithoutMemoryItSaysHowMuch) {
  script_.memory_bytes = 1000;
  const auto held = device_->Allocate(600);
  const auto rejected = device_->Allocate(500);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(rejected.error().message,
            "NVIDIA S1 (device 0) has no 500 bytes free, only 400 of 1000");
  EXPECT_TRUE(device_->Allocate(400));  // the device still works
}

TEST_F(CudaDeviceTest, LoadsOnlyCubins) {
  KernelImage image = SumsImage();
  image.format = "elf";
  EXPECT_EQ(device_->Load(image).error().code, ErrorCode::kParse);
  EXPECT_EQ(device_->Load(image).error().message,
            "NVIDIA S1 (device 0) cannot run code of format 'elf', expected 'cubin'");
  image = SumsImage();
  image.bytes = ".version 8.0";
  EXPECT_EQ(device_->Load(image).error().code, ErrorCode::kParse);
  EXPECT_THAT(script_.log, ElementsAre());
}

TEST_F(CudaDeviceTest, ACubinThatDoesNotFitNamesTheDriver) {
  script_.load = CuResult::kNoBinaryForGpu;
  const auto rejected = device_->Load(SumsImage());
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kDevice);
  EXPECT_EQ(rejected.error().message,
            "NVIDIA S1 (device 0) cannot load the kernel: CUDA_ERROR_NO_BINARY_FOR_GPU (209): as "
            "scripted; its compute capability is 9.0 and its driver supports CUDA 13.0: compile "
            "for that arch, with a ptxas that is not newer");
  for (const CuResult wrong : {CuResult::kInvalidImage, CuResult::kUnsupportedPtxVersion}) {
    script_.load = wrong;
    EXPECT_THAT(device_->Load(SumsImage()).error().message,
                AllOf(HasSubstr(fmt::format("({})", static_cast<int>(wrong))),
                      HasSubstr("its driver supports CUDA 13.0")));
  }
  script_.load = CuResult::kOutOfMemory;
  EXPECT_EQ(device_->Load(SumsImage()).error().code, ErrorCode::kResourceLimit);
}

TEST_F(CudaDeviceTest, AFunctionThatIsMissing) {
  script_.functions = {"first"};
  const auto rejected = device_->Load(SumsImage());
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(rejected.error().message, "the kernel has no function second");
}

TEST_F(CudaDeviceTest, SharedMemoryThatItHasNot) {
  KernelImage image = SumsImage();
  image.phases[1].shared_bytes = (227 << 10) + 1;
  const auto rejected = device_->Load(image);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(rejected.error().message,
            "second shares 232449 bytes in a block, NVIDIA S1 (device 0) has 232448");
}

TEST_F(CudaDeviceTest, ALaunchThatIsRejectedIsSaidOnce) {
  const Sums sums(*device_);
  script_.rejected_launch = 2;
  sums.kernel->Start();
  EXPECT_EQ(script_.launches, 2);  // dependent runs are not started
  sums.kernel->Start();
  EXPECT_EQ(script_.launches, 2);
  const Status said = device_->Synchronize();
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, ErrorCode::kDevice);
  EXPECT_EQ(said.error().message,
            "NVIDIA S1 (device 0) cannot start first: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): "
            "as scripted");
  EXPECT_TRUE(device_->Synchronize());
  EXPECT_TRUE(sums.kernel->Seconds(1));
}

TEST_F(CudaDeviceTest, AFaultLosesTheDevice) {
  const Sums sums(*device_);
  script_.faulting_launch = 4;
  sums.kernel->Start();
  const Status first = device_->Synchronize();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kDevice);
  const std::string message =
      "NVIDIA S1 (device 0) is lost: CUDA_ERROR_ILLEGAL_ADDRESS (700): as scripted, in second or "
      "what was started before it";
  EXPECT_EQ(first.error().message, message);
  script_.fault = CuResult::kMisalignedAddress;  // the first fault is reported
  std::array<float, kFloats> results{};
  EXPECT_EQ(device_->CopyOut(results.data(), sums.out.address, kSumsBytes).error().message,
            message);
  EXPECT_EQ(device_->CopyIn(sums.in.address, results.data(), kSumsBytes).error().message, message);
  EXPECT_EQ(device_->Fill(sums.in.address, std::byte{0}, kSumsBytes).error().message, message);
  EXPECT_EQ(device_->Allocate(1).error().message, message);
  EXPECT_EQ(device_->Load(SumsImage()).error().message, message);
  EXPECT_EQ(sums.kernel->Seconds(1).error().message, message);
  EXPECT_EQ(device_->Synchronize().error().message, message);
  sums.kernel->Poison();
  sums.kernel->Start();
  EXPECT_EQ(script_.launches, 4);
}

TEST_F(CudaDeviceTest, AFaultedRunHasNoTime) {
  const Sums sums(*device_);
  EXPECT_TRUE(sums.kernel->Seconds(1));
  script_.fault = CuResult::kMisalignedAddress;
  script_.faulting_launch = script_.launches + 1;
  const auto seconds = sums.kernel->Seconds(2);
  ASSERT_FALSE(seconds);
  EXPECT_THAT(seconds.error().message, HasSubstr("CUDA_ERROR_MISALIGNED_ADDRESS (716)"));
}

// After a hang, the device must not call functions of the driver that would wait forever. The
// scripted driver aborts in such a call.
TEST(HangingCudaDevice, IsSaidAndLeftAlone) {
  Script& script = NewScript();
  script.functions = {"first", "second"};
  auto opened = OpenCudaDevice(*LoadCudaDriver(kLibrary), 0, /*hang_seconds=*/0.02);
  ASSERT_TRUE(opened) << opened.error().Format();
  const std::unique_ptr<Device> device = *std::move(opened);
  const std::unique_ptr<Device> queue = *device->OpenQueue();
  const Sums sums(*queue);
  script.hanging_launch = 2;
  sums.kernel->Start();
  std::array<float, kFloats> results{};
  const Status copied = queue->CopyOut(results.data(), sums.out.address, kSumsBytes);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::kDevice);
  const std::string message =
      "NVIDIA S1 (device 0) hangs, in second or what was started before it: not done after 0.02 s "
      "(driver of CUDA 13.0); end this process to free the GPU, and see nvidia-smi; a larger "
      "hang_after allows longer runs";
  EXPECT_EQ(copied.error().message, message);
  EXPECT_EQ(queue->Synchronize().error().message, message);
  EXPECT_EQ(sums.kernel->Seconds(1).error().message, message);
  EXPECT_EQ(queue->Allocate(1).error().message, message);
  EXPECT_EQ(device->Load(SumsImage()).error().message,
            "NVIDIA S1 (device 0) hangs in other work of this process");
  sums.kernel->Start();
  EXPECT_EQ(script.launches, 4);
}

TEST(HangingCudaDevice, HasNoTime) {
  Script& script = NewScript();
  script.functions = {"first", "second"};
  const auto device = *OpenCudaDevice(*LoadCudaDriver(kLibrary), 0, /*hang_seconds=*/0.02);
  const Sums sums(*device);
  script.hanging_launch = 1;
  const auto seconds = sums.kernel->Seconds(1);
  ASSERT_FALSE(seconds);
  EXPECT_THAT(seconds.error().message, HasSubstr("NVIDIA S1 (device 0) hangs, in second or"));
}

// A slow run that ends before the timeout is not a hang.
TEST(HangingCudaDevice, IsNotOneThatEndsInTime) {
  Script& script = NewScript();
  script.functions = {"first", "second"};
  script.unfinished_queries = 40;
  const auto device = *OpenCudaDevice(*LoadCudaDriver(kLibrary), 0);
  const Sums sums(*device);
  sums.kernel->Start();
  EXPECT_TRUE(device->Synchronize());
  EXPECT_EQ(script.unfinished_queries, 0);
}

TEST(OpenCudaDevice, OneThatIsNotThere) {
  NewScript();
  const auto device = OpenCudaDevice(*LoadCudaDriver(kLibrary), 1);
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("cannot describe GPU 1"));
}

}  // namespace
}  // namespace tunec
