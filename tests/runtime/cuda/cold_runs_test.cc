// Tests of the timing of kernels whose arguments are not in the GPU's cache, on a scripted driver.
#include "runtime/cold_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
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
using ::testing::ElementsAre;

constexpr int64_t kMiB = 1 << 20;

TEST(ChooseLap, BringsTwiceTheCacheBetweenTwoRunsOnACopy) {
  EXPECT_EQ(ChooseLap(4 * kMiB, 50 * kMiB, 20e-6), (Lap{.copies = 26, .runs = 26}));
  EXPECT_EQ(ChooseLap(50 * kMiB, 50 * kMiB, 100e-6), (Lap{.copies = 3, .runs = 18}));
  EXPECT_EQ(ChooseLap(200 * kMiB, 50 * kMiB, 100e-6), (Lap{.copies = 2, .runs = 16}));
}

TEST(ChooseLap, EndsWithinAHundredthOfASecond) {
  EXPECT_EQ(ChooseLap(4 * kMiB, 50 * kMiB, 1e-3), (Lap{.copies = 10, .runs = 10}));
  EXPECT_EQ(ChooseLap(50 * kMiB, 50 * kMiB, 1e-3), (Lap{.copies = 3, .runs = 9}));
  EXPECT_EQ(ChooseLap(4 * kMiB, 50 * kMiB, 1), (Lap{.copies = 1, .runs = 1}));
}

// Arguments of 1000 bytes would need more than 256 copies, the most that a lap has. Arguments
// without bytes have one copy.
TEST(ChooseLap, HasNotManyCopies) {
  EXPECT_EQ(ChooseLap(1000, 50 * kMiB, 5e-6), (Lap{.copies = 256, .runs = 256}));
  EXPECT_EQ(ChooseLap(1000, 50 * kMiB, 0), (Lap{.copies = 256, .runs = 256}));
  EXPECT_EQ(ChooseLap(0, 50 * kMiB, 5e-6), (Lap{.copies = 1, .runs = 16}));
}

class ColdRunsTest : public ::testing::Test {
 protected:
  ColdRunsTest() {
    script_.functions = {"first", "second"};
    script_.run = [this](const Launch& launch) {
      RunSums(launch);
      if (launch.symbol == "second") written_.push_back(Parameter<const float*>(launch, 1));
    };
    device_ = *OpenCudaDevice(*LoadCudaDriver(kLibrary), 0);
    in_ = *device_->Allocate(kSumsBytes);
    out_ = *device_->Allocate(kSumsBytes);
    workspace_ = *device_->Allocate(kSumsBytes);
    const std::array<float, kFloats> ones = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    TUNEC_CHECK(device_->CopyIn(in_.address, ones.data(), kSumsBytes), "copies");
  }

  ColdRuns Make(Lap lap) {
    const DeviceCall call{
        *device_->Load(SumsImage()), {in_.address, out_.address}, workspace_.address};
    auto runs = ColdRuns::Make(*device_, call, std::array{kSumsBytes, kSumsBytes}, lap);
    TUNEC_CHECK(runs, "{}", runs.error().Format());
    return *std::move(runs);
  }

  Script& script_ = NewScript();
  std::vector<const float*> written_;  // outputs of all runs, in order
  std::unique_ptr<Device> device_;
  DeviceMemory in_, out_, workspace_;
};

TEST_F(ColdRunsTest, EachHasTheNextCopyAndALapIsOneLaunch) {
  ColdRuns runs = Make({.copies = 3, .runs = 6});
  script_.log.clear();
  const auto seconds = runs.Seconds(1);
  ASSERT_TRUE(seconds) << seconds.error().Format();
  EXPECT_NEAR(*seconds, 4e-3, 1e-9);  // four launches of a millisecond
  EXPECT_THAT(script_.log, ElementsAre("launch a graph"));
  ASSERT_EQ(written_.size(), 6u);
  EXPECT_EQ(written_[0], out_.address);
  EXPECT_EQ(std::set(written_.begin(), written_.end()).size(), 3u);
  for (size_t i = 0; i < written_.size(); ++i) {
    EXPECT_EQ(written_[i], written_[i % 3]);
    EXPECT_THAT(std::vector(written_[i], written_[i] + kFloats), Each(4));  // from the copied input
  }
}

TEST_F(ColdRunsTest, ManyRunsAreWholeLapsInProportion) {
  ColdRuns runs = Make({.copies = 2, .runs = 4});
  const auto seconds = runs.Seconds(6);
  ASSERT_TRUE(seconds) << seconds.error().Format();
  EXPECT_NEAR(*seconds, 6 * 4e-3, 1e-9);
  EXPECT_EQ(written_.size(), 8u);
}

TEST_F(ColdRunsTest, WithoutRoomThereAreFewerCopies) {
  script_.memory_bytes = script_.allocated_bytes + 2 * 512;  // two copies of two arguments
  EXPECT_EQ(Make({.copies = 7, .runs = 21}).lap(), (Lap{.copies = 3, .runs = 21}));
  script_.memory_bytes = script_.allocated_bytes;
  EXPECT_EQ(Make({.copies = 7, .runs = 21}).lap(), (Lap{.copies = 1, .runs = 21}));
}

TEST_F(ColdRunsTest, AFaultIsNoTime) {
  ColdRuns runs = Make({.copies = 2, .runs = 2});
  script_.faulting_launch = 3;
  const auto seconds = runs.Seconds(1);
  ASSERT_FALSE(seconds);
  EXPECT_EQ(seconds.error().code, ErrorCode::kDevice);
}

}  // namespace
}  // namespace tunec
