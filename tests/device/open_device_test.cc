// Tests of OpenDevice, mostly of the host as a device. Memory of this device is memory of the
// program.
#include "runtime/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "device/open_device.h"
#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "runtime/kernel_run.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

// A loop nest that computes C = (A + 1) * 2 through a workspace, in two phases of three tasks each.
constexpr std::string_view kTwoPhases = R"(
nest sums {
  input A: f32[12]
  output C: f32[12]
  workspace W: f32[12]
  phase first { parallel for i in 0 .. 3 { vector for j in 0 .. 4 { w: W[4*i + j] = A[4*i + j] + 1.0 } } }
  phase second { parallel for i in 0 .. 3 { vector for j in 0 .. 4 { s: C[4*i + j] = W[4*i + j] * 2.0 } } }
})";

TEST(HostAsDevice, RunsAnImageOnItsMemory) {
  const Target target = DetectCpu(2);
  const LoopNest nest = Parse(std::string(kTwoPhases));
  const auto image = (*GeneratorFor(target))->Compile(nest, target);
  ASSERT_TRUE(image) << image.error().Format();
  ASSERT_EQ(image->phases.size(), 2u);
  EXPECT_EQ(image->phases[0].Blocks(), 3);
  ThreadPool pool(2);
  const auto device = *OpenDevice(target, pool);
  std::array<float, 12> values{};
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const DeviceMemory in = *device->Allocate(sizeof(values));
  const DeviceMemory out = *device->Allocate(sizeof(values));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(in.address) % 64, 0u);
  EXPECT_EQ(in.address, in.on_host);
  ASSERT_TRUE(device->CopyIn(in.address, values.data(), sizeof(values)));
  const DeviceMemory workspace = *device->Allocate(image->workspace_bytes);
  const auto code = device->Load(*image);
  ASSERT_TRUE(code) << code.error().Format();
  const auto kernel = device->Bind(*code, {in.address, out.address}, workspace.address);
  ASSERT_TRUE(kernel) << kernel.error().Format();
  (*kernel)->Poison();
  (*kernel)->Start();
  ASSERT_TRUE(device->Synchronize());
  std::array<float, 12> results{};
  ASSERT_TRUE(device->CopyOut(results.data(), out.address, sizeof(results)));
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], (values[i] + 1) * 2) << i;
  EXPECT_GT(*(*kernel)->Seconds(3), 0);
}

// An Executable may call the functions of a kernel after the device and its code are destroyed.
TEST(HostAsDevice, ItsKernelOutlivesTheDevice) {
  const Target target = DetectCpu(1);
  const LoopNest nest = Parse(std::string(kTwoPhases));
  const auto image = (*GeneratorFor(target))->Compile(nest, target);
  ASSERT_TRUE(image) << image.error().Format();
  ThreadPool pool(1);
  Kernel kernel;
  {
    const auto device = *OpenDevice(target, pool);
    const auto code = device->Load(*image);
    ASSERT_TRUE(code) << code.error().Format();
    ASSERT_NE((*code)->OnHost(), nullptr);
    kernel = *(*code)->OnHost();
  }
  std::array<float, 12> in{}, out{};
  auto run = KernelRun::Make(kernel, {in.data(), out.data()}, 1);
  ASSERT_TRUE(run) << run.error().Format();
  run->Run(pool);
  for (const float value : out) EXPECT_EQ(value, 2);
}

TEST(HostAsDevice, LoadsOnlyItsOwnCode) {
  ThreadPool pool(1);
  const auto device = *OpenDevice(DetectCpu(1), pool);
  EXPECT_EQ(device->Load({.format = "cubin"}).error().code, ErrorCode::kParse);
}

TEST(OpenDevice, WithoutADriverIsAnError) {
  ThreadPool pool(1);
  Target target = DetectCpu(1);
  target.device = Accelerator{.kind = "paper", .name = "sm_90a"};
  const auto device = OpenDevice(target, pool);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kDevice);
  EXPECT_EQ(device.error().message, "this machine has no paper that tunec can drive");
}

}  // namespace
}  // namespace tunec::jit_test
