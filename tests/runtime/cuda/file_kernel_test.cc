// Tests of kernels from files on a GPU, on a driver that runs the test's script.
#include "runtime/file_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/load_driver.h"
#include "tests/runtime/cuda/sums_kernel.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::Launch;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using ::testing::Each;
using ::testing::IsNan;

KernelFile Sums() {
  return {
      .arguments = {{"A", DataType::kF32, kFloats, false}, {"C", DataType::kF32, kFloats, true}},
      .image = SumsImage()};
}

std::vector<float> FloatsOf(const KernelVector& vector) {
  std::vector<float> floats(vector.elements());
  std::memcpy(floats.data(), vector.bytes.data(), vector.bytes.size());
  return floats;
}

class FileKernelTest : public ::testing::Test {
 protected:
  FileKernelTest() {
    script_.functions = {"first", "second"};
    script_.run = RunSums;
    device_ = *OpenCudaDevice(*LoadCudaDriver(kLibrary), 0);
  }
  FileKernel Load() {
    auto kernel = FileKernel::Load(*device_, Sums());
    TUNEC_CHECK(kernel, "{}", kernel.error().Format());
    return *std::move(kernel);
  }

  Script& script_ = NewScript();
  const KernelVectors inputs_ = RandomInputs(Sums().arguments, 1);
  std::unique_ptr<Device> device_;
};

TEST_F(FileKernelTest, GivesItsOutputs) {
  FileKernel kernel = Load();
  const auto outputs = kernel.Run(inputs_);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ(outputs->at(0).name, "C");
  const std::vector<float> in = FloatsOf(inputs_.arguments[0]);
  const std::vector<float> out = FloatsOf(outputs->at(0));
  for (size_t i = 0; i < kFloats; ++i) EXPECT_EQ(out[i], 2 * (in[i] + 1)) << i;
}

TEST_F(FileKernelTest, WhatItDoesNotWriteIsNan) {
  FileKernel kernel = Load();
  ASSERT_TRUE(kernel.Run(inputs_));
  script_.run = [](const Launch&) {};
  const auto outputs = kernel.Run(inputs_);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  EXPECT_THAT(FloatsOf(outputs->at(0)), Each(IsNan()));
}

TEST_F(FileKernelTest, RejectsOtherInputs) {
  FileKernel kernel = Load();
  EXPECT_EQ(kernel.Run({}).error().message, "there is no vector for A");
  KernelVectors other = inputs_;
  other.arguments[0].bytes.resize(8);
  const auto rejected = kernel.Run(other);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(rejected.error().message, "A has 2 elements of f32, expected 12 of f32");
}

// A run has four launches of a millisecond each, so two runs fit into a lap of 10 ms.
TEST_F(FileKernelTest, IsTimedInLaps) {
  FileKernel kernel = Load();
  ASSERT_TRUE(kernel.Run(inputs_));
  const auto seconds = kernel.Time(/*cache_bytes=*/48, /*samples=*/5);
  ASSERT_TRUE(seconds) << seconds.error().Format();
  EXPECT_EQ(seconds->size(), 5u);
  EXPECT_THAT(*seconds, Each(::testing::DoubleNear(4e-3, 1e-9)));
  EXPECT_EQ(kernel.lap(), (Lap{.copies = 2, .runs = 2}));
}

TEST_F(FileKernelTest, AFaultIsAnError) {
  FileKernel kernel = Load();
  script_.faulting_launch = 2;
  EXPECT_EQ(kernel.Run(inputs_).error().code, ErrorCode::kDevice);
}

}  // namespace
}  // namespace tunec
