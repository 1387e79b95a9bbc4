// Tests workers and workbenches whose GPU has a scripted driver. The tests cover the choice of the
// GPU, the check of results, the timing of kernels, and a GPU that fails or hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "autotune/measure/measure.h"
#include "autotune/worker/worker_measurer.h"
#include "tests/autotune/emulated_gpu.h"
#include "tests/autotune/workloads.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/programs/must_parse.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;

// Returns a schedule with blocks of this many threads.
std::string ScheduleOf(int threads) {
  return fmt::format("lower direct\nsplit out.i {}\nbind out.i.0 grid.x\nbind out.i.1 block.x\n",
                     threads);
}

class GpuWorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
    setenv("TUNEC_LIBCUDA", TUNEC_BINARY_DIR "/lib/libscripted_cuda.so", 1);
  }
  void TearDown() override {
    unsetenv("TUNEC_LIBCUDA");
    unsetenv("TUNEC_CUDA_SCRIPT");
  }

  // Measures three candidates with workers whose driver plays the script from its beginning.
  std::vector<Measurement> MeasuredOn(const char* script, WorkerLimits limits = {}) {
    setenv("TUNEC_CUDA_SCRIPT", script, 1);
    const auto measurer =
        MakeWorkerMeasurer(TUNEC_BINARY_DIR "/bin/tunec-worker", limits, /*cancelled=*/{});
    const std::vector<CandidateRequest> requests = {
        {ScheduleOf(8)}, {ScheduleOf(16)}, {ScheduleOf(32)}};
    std::vector<Measurement> results(requests.size());
    const Status status = measurer->Measure(
        workload_, requests, std::nullopt, [&](size_t i, const Measurement& measurement) -> Status {
          results.at(i) = measurement;
          return {};
        });
    EXPECT_TRUE(status) << status.error().Format();
    return results;
  }

  Workload workload_{.lowerings = {{"direct", test::MustParse(R"(
                         compute twice {
                           input A: f32[64]
                           output C: f32[64]
                           out[i: 64]:
                             C[i] = A[i] + A[i]
                         })")}},
                     .target = testing::Gpu(),
                     .seed = 7};
};

// The kernels of this driver do nothing, so their results are wrong.
TEST_F(GpuWorkerTest, AnswersAreChecked) {
  EXPECT_THAT(MeasuredOn(""), Each(Field(&Measurement::status, TrialStatus::kWrongResult)));
}

// Returns the script of this process's driver, reset so that launches compute 2 * A.
scripted_cuda::Script& ScriptOfTwice() {
  scripted_cuda::Script& script = scripted_cuda::NewScript();
  script.any_function = true;
  script.memory_bytes = 1 << 24;
  script.run = [](const scripted_cuda::Launch& launch) {
    const auto* const a = *static_cast<const float**>(launch.parameters[0]);
    auto* const c = *static_cast<float**>(launch.parameters[1]);
    for (size_t i = 0; i < 64; ++i) c[i] = 2 * a[i];
  };
  return script;
}

// Returns a script of a GPU that becomes slower with each launch. At the beginning, eight blocks
// take about a millisecond. With each block fewer, a launch takes about a hundredth of a
// millisecond less.
scripted_cuda::Script& ScriptOfGpuThatSlowsDown() {
  scripted_cuda::Script& script = ScriptOfTwice();
  script.milliseconds = [&script](const scripted_cuda::Launch& launch) {
    return (0.92 + 0.01 * launch.blocks) * (1 + 4e-4 * script.launches);
  };
  return script;
}

// Returns the seconds by which a search ranks schedules that are measured one after the other. If
// `beside` is true, the runs of a schedule alternate with runs of the fastest schedule so far.
std::vector<double> TimesOf(Workbench& bench, const std::vector<int>& threads, bool beside) {
  std::vector<double> times;
  std::optional<Incumbent> best;
  for (const int count : threads) {
    const Measurement result =
        bench.Measure(bench.Compile({ScheduleOf(count)}), beside ? best : std::nullopt);
    EXPECT_EQ(result.status, TrialStatus::kOk) << result.message;
    times.push_back(result.ratio ? *result.ratio * best->seconds : Median(result.samples));
    if (!best || times.back() < best->seconds) best = {ScheduleOf(count), times.back()};
  }
  return times;
}

// The schedules have eight, four and two blocks.
TEST_F(GpuWorkerTest, WhatSlowsDownTheGpuChoosesNobody) {
  const std::vector<int> threads = {8, 16, 32};
  ThreadPool pool(1);
  ScriptOfGpuThatSlowsDown();
  auto bench = Workbench::Make(workload_, pool);
  ASSERT_TRUE(bench) << bench.error().Format();
  const std::vector<double> beside = TimesOf(*bench, threads, /*beside=*/true);
  EXPECT_NEAR(beside[1] / beside[0], 0.96, 0.01);
  EXPECT_NEAR(beside[2] / beside[0], 0.94, 0.01);
  // If each schedule is measured alone, the first one wins wrongly.
  ScriptOfGpuThatSlowsDown();
  bench = Workbench::Make(workload_, pool);
  ASSERT_TRUE(bench) << bench.error().Format();
  const std::vector<double> alone = TimesOf(*bench, threads, /*beside=*/false);
  EXPECT_LT(alone[0], alone[1]);
  EXPECT_LT(alone[0], alone[2]);
}

TEST_F(GpuWorkerTest, AnIncumbentThatCannotRunIsNoHindrance) {
  ScriptOfTwice();
  ThreadPool pool(1);
  auto bench = Workbench::Make(workload_, pool);
  ASSERT_TRUE(bench) << bench.error().Format();
  for (const std::string& schedule : {ScheduleOf(2048), std::string("lower other\n")}) {
    const Measurement result =
        bench->Measure(bench->Compile({ScheduleOf(8)}), Incumbent{schedule, 2e-3});
    EXPECT_EQ(result.status, TrialStatus::kOk) << result.message;
    EXPECT_THAT(result.samples, Each(::testing::DoubleNear(1e-3, 1e-9)));
  }
}

// A run is a launch of a millisecond, and ten runs fit a lap.
TEST_F(GpuWorkerTest, RightAnswersAreTimedCold) {
  const scripted_cuda::Script& script = ScriptOfTwice();
  ThreadPool pool(1);
  auto bench = Workbench::Make(workload_, pool);
  ASSERT_TRUE(bench) << bench.error().Format();
  const Measurement result = bench->Measure(bench->Compile({ScheduleOf(8)}), std::nullopt);
  ASSERT_EQ(result.status, TrialStatus::kOk) << result.message;
  EXPECT_EQ(result.note, "timed.copies=10");
  EXPECT_THAT(result.samples, Each(::testing::DoubleNear(1e-3, 1e-9)));
  EXPECT_THAT(script.log, ::testing::Contains("prepare a graph of 10").Times(1));
}

// The workers open the chosen GPU.
TEST_F(GpuWorkerTest, TheChosenGpuIsMeasuredOn) {
  workload_.device = "1";
  EXPECT_THAT(MeasuredOn("gpus 2"), Each(Field(&Measurement::status, TrialStatus::kWrongResult)));
  workload_.device = "GPU-01020304-0506-0708-090a-0b0c0d0e0f10";
  EXPECT_THAT(MeasuredOn("gpus 2 fault 700"),
              Each(Field(&Measurement::message, HasSubstr("NVIDIA S1 (device 1) is lost"))));
}

TEST_F(GpuWorkerTest, AGpuThatIsNotThereIsAnError) {
  workload_.device = "3";
  setenv("TUNEC_CUDA_SCRIPT", "gpus 2", 1);
  const auto measurer =
      MakeWorkerMeasurer(TUNEC_BINARY_DIR "/bin/tunec-worker", {}, /*cancelled=*/{});
  const std::vector<CandidateRequest> requests = {{ScheduleOf(8)}};
  const Status status = measurer->Measure(workload_, requests, std::nullopt,
                                          [](size_t, const Measurement&) -> Status { return {}; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kDevice);
  EXPECT_THAT(status.error().message, HasSubstr("this machine has no GPU '3'"));
}

// A worker ends if its GPU is lost, so each candidate needs its own worker.
TEST_F(GpuWorkerTest, AFaultIsOfItsCandidateAlone) {
  EXPECT_THAT(MeasuredOn("fault 700"),
              Each(AllOf(Field(&Measurement::status, TrialStatus::kCrashed),
                         Field(&Measurement::message,
                               HasSubstr("is lost: CUDA_ERROR_ILLEGAL_ADDRESS (700)")))));
}

// The watchdog acts before the worker detects the hang.
TEST_F(GpuWorkerTest, AHangIsATimeoutAndTheNextHasAnotherWorker) {
  EXPECT_THAT(MeasuredOn("hang", {.seconds_per_candidate = 2}),
              Each(AllOf(Field(&Measurement::status, TrialStatus::kTimedOut),
                         Field(&Measurement::message, "not done after 2 s"))));
}

}  // namespace
}  // namespace tunec
