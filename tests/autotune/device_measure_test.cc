// Tests the measurement of candidates on a device with separate memory. A failure of the device
// during timing is an error of the candidate, never a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autotune/measure/measure.h"
#include "kernel/compiled_kernel.h"
#include "tests/autotune/served_here.h"
#include "tests/autotune/workloads.h"
#include "tests/kernel/second_target/interpreting_device.h"
#include "tests/kernel/second_target/printing_generator.h"

namespace tunec {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::kGoodSchedule;
using testing::MatmulRelu;
using ::testing::Not;
using testing::ServedHere;
using ::testing::StartsWith;

// A schedule of MatmulRelu that packs the weight B.
constexpr const char* kPackingSchedule = "lower direct\npack B 1/8 0 1%8\n";

class DeviceMeasureTest : public ::testing::Test {
 protected:
  Workload OnPaper() const {
    Workload workload = testing::WorkloadOf(MatmulRelu());
    workload.target.device = second_target::PrinterWith(0).device;
    return workload;
  }
  Workbench MakeBench() { return *Workbench::Make(OnPaper(), pool_); }

  RegisteredGenerator generator_{second_target::MakePrintingGenerator()};
  second_target::Paper paper_;
  RegisteredDriver driver_{second_target::DriverOf(paper_)};
  ThreadPool pool_{2};
};

TEST_F(DeviceMeasureTest, CandidatesRunInItsMemory) {
  Workbench bench = MakeBench();
  paper_.log.clear();
  for (const char* schedule : {kGoodSchedule, kPackingSchedule}) {
    const Measurement result = bench.Measure(bench.Compile({schedule}), std::nullopt);
    ASSERT_EQ(result.status, TrialStatus::kOk) << result.message;
    EXPECT_GE(result.samples.size(), 3u);
    EXPECT_THAT(result.samples, Each(1e-3));
    ASSERT_TRUE(result.artifact);
    EXPECT_EQ(FromArtifact(*result.artifact)->image.format, second_target::kTextFormat);
  }
  // The outputs are copied to be checked.
  EXPECT_THAT(paper_.log, Contains("copy 1924 out").Times(2));
}

TEST_F(DeviceMeasureTest, AFailureWhileItIsTimedIsNoTime) {
  Workbench bench = MakeBench();
  paper_.failing_run = 3;
  const Measurement result = bench.Measure(bench.Compile({kGoodSchedule}), std::nullopt);
  EXPECT_EQ(result.status, TrialStatus::kCrashed);
  EXPECT_THAT(result.message, HasSubstr("run 3 of product failed"));
  EXPECT_TRUE(result.samples.empty());
  EXPECT_FALSE(result.artifact);
  EXPECT_GT(result.compile_ms, 0);
}

TEST_F(DeviceMeasureTest, AFailureInTheCheckedRunIsNoWrongResult) {
  Workbench bench = MakeBench();
  paper_.failing_run = 1;
  const Measurement result = bench.Measure(bench.Compile({kGoodSchedule}), std::nullopt);
  EXPECT_EQ(result.status, TrialStatus::kCrashed);
  EXPECT_THAT(result.message, HasSubstr("run 1 of product failed"));
}

TEST_F(DeviceMeasureTest, AFailureWhileTimingAgainIsNoTime) {
  Workbench bench = MakeBench();
  paper_.failing_run = 3;
  std::vector<CompiledCandidate> candidates;
  candidates.push_back(bench.Compile({kGoodSchedule}));
  const std::vector<Measurement> timed = bench.Compare(std::move(candidates), {.rounds = 4});
  ASSERT_EQ(timed.size(), 1u);
  EXPECT_EQ(timed[0].status, TrialStatus::kCrashed);
  EXPECT_TRUE(timed[0].samples.empty());
}

// Between two runs on one copy of 7776 bytes, the runs on other copies use at least twice 8192
// bytes. Eight runs of a millisecond fit a lap.
TEST_F(DeviceMeasureTest, WhereThereIsACacheRunsFindItCold) {
  Workload workload = OnPaper();
  workload.target.device->l2_bytes = 8192;
  Workbench bench = *Workbench::Make(workload, pool_);
  paper_.log.clear();
  const Measurement result = bench.Measure(bench.Compile({kGoodSchedule}), std::nullopt);
  ASSERT_EQ(result.status, TrialStatus::kOk) << result.message;
  EXPECT_THAT(result.samples, Each(::testing::DoubleNear(1e-3, 1e-9)));
  EXPECT_EQ(result.note, "timed.copies=4");
  EXPECT_THAT(paper_.log, Contains("start copying 4292 within").Times(3));
  EXPECT_THAT(paper_.log, Contains("bind product").Times(1 + 8));

  std::vector<CompiledCandidate> candidates;
  candidates.push_back(bench.Compile({kGoodSchedule}));
  paper_.log.clear();
  const std::vector<Measurement> again = bench.Compare(std::move(candidates), {.rounds = 2});
  EXPECT_THAT(again.at(0).samples, Each(::testing::DoubleNear(1e-3, 1e-9)));
  EXPECT_THAT(paper_.log, Contains("start copying 4292 within").Times(3));  // before the rounds
}

TEST_F(DeviceMeasureTest, AFailureInAColdRunIsNoTime) {
  Workload workload = OnPaper();
  workload.target.device->l2_bytes = 8192;
  Workbench bench = *Workbench::Make(workload, pool_);
  paper_.failing_run = 3;  // each kernel of a lap counts its runs, so this is in the third lap
  const Measurement result = bench.Measure(bench.Compile({kGoodSchedule}), std::nullopt);
  EXPECT_EQ(result.status, TrialStatus::kCrashed);
  EXPECT_TRUE(result.samples.empty());
}

// The device neither computes the reference nor packs weights.
TEST_F(DeviceMeasureTest, TheHostComputesTheReferenceAndPacks) {
  paper_.log.clear();
  Workbench bench = MakeBench();
  EXPECT_THAT(paper_.log, Not(Contains(StartsWith("load "))));
  const Measurement result = bench.Measure(bench.Compile({kPackingSchedule}), std::nullopt);
  ASSERT_EQ(result.status, TrialStatus::kOk) << result.message;
  EXPECT_THAT(paper_.log, Contains(StartsWith("load ")).Times(1));
  const auto code = FromArtifact(*result.artifact);
  ASSERT_TRUE(code) << code.error().Format();
  EXPECT_EQ(code->prepacks.at(0).image.format, kElfFormat);
  EXPECT_EQ(code->prepacks.at(0).host_features, OnPaper().target.host.features);
}

// The next candidate would fail too, though it is correct.
TEST_F(DeviceMeasureTest, AWorkerEndsWithItsDevice) {
  paper_.failing_run = 3;
  ServedHere worker;
  EXPECT_TRUE(worker.Ask(Encode(Request(PrepareRequest{OnPaper(), false, {}}))).empty());
  EXPECT_FALSE(worker.has_ended());
  const MeasureRequest measure{{{kGoodSchedule}, {kPackingSchedule}}, std::nullopt};
  std::vector<FinishedEvent> finished;
  for (const Event& event : worker.Ask(Encode(Request(measure)))) {
    if (const auto* one = std::get_if<FinishedEvent>(&event)) finished.push_back(*one);
  }
  EXPECT_TRUE(worker.has_ended());
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].candidate, 0u);
  EXPECT_EQ(finished[0].measurement.status, TrialStatus::kCrashed);
}

}  // namespace
}  // namespace tunec
