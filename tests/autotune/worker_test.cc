// Tests the measurement of candidates in a worker process. A candidate that crashes, hangs or
// exhausts the memory gets a failure status, and the other candidates are still measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "autotune/worker/worker_measurer.h"
#include "tests/autotune/emulated_gpu.h"
#include "tests/autotune/fault.h"
#include "tests/autotune/workloads.h"
#include "tests/kernel/second_target/printing_generator.h"

namespace tunec {
namespace {

using testing::Fault;
using ::testing::HasSubstr;
using testing::kGoodSchedule;
using testing::kIllegalSchedule;
using testing::MatmulRelu;
using testing::WithFault;
using testing::WorkloadOf;

const std::string kPrograms = std::string(TUNEC_BINARY_DIR) + "/bin/";

// Returns a legal schedule of MatmulRelu. Variants unroll by different factors.
std::string GoodSchedule(int variant) {
  return std::string(kGoodSchedule) + "unroll acc.k " + std::to_string(1 + variant) + "\n";
}

class WorkerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Measurer> MakeMeasurer(WorkerLimits limits = {},
                                         std::function<bool()> cancelled = {}) {
    return MakeWorkerMeasurer(kPrograms + "tunec-worker", limits, std::move(cancelled));
  }

  // Returns a measurer whose worker executes the faults that WithFault adds to schedules.
  std::unique_ptr<Measurer> MakeFaultyMeasurer(WorkerLimits limits = {},
                                               std::function<bool()> cancelled = {}) {
    return MakeWorkerMeasurer(kPrograms + "faulty-worker", limits, std::move(cancelled));
  }

  std::map<size_t, Measurement> Measured(Measurer& measurer,
                                         const std::vector<CandidateRequest>& requests,
                                         const Workload& workload = WorkloadOf(MatmulRelu())) {
    std::map<size_t, Measurement> results;
    const Status status = measurer.Measure(workload, requests, std::nullopt,
                                           [&](size_t i, const Measurement& m) -> Status {
                                             EXPECT_FALSE(results.contains(i));
                                             results[i] = m;
                                             return {};
                                           });
    EXPECT_TRUE(status) << status.error().Format();
    EXPECT_EQ(results.size(), requests.size());
    return results;
  }
};

TEST_F(WorkerTest, MeasuresABatch) {
  const auto measurer = MakeMeasurer();
  auto results =
      Measured(*measurer, {{GoodSchedule(0)}, {kIllegalSchedule}, {GoodSchedule(1)}, {"rubbish"}});
  EXPECT_EQ(results[0].status, TrialStatus::kOk) << results[0].message;
  EXPECT_FALSE(results[0].samples.empty());
  EXPECT_EQ(results[1].status, TrialStatus::kIllegal);
  EXPECT_THAT(results[1].message, HasSubstr("acc"));
  EXPECT_EQ(results[2].status, TrialStatus::kOk);
  EXPECT_EQ(results[3].status, TrialStatus::kCompileError);
}

TEST_F(WorkerTest, AWrongKernelIsCaught) {
  const auto measurer = MakeFaultyMeasurer();
  auto results =
      Measured(*measurer, {{WithFault(GoodSchedule(0), Fault::kReverseIndex)}, {GoodSchedule(1)}});
  EXPECT_EQ(results[0].status, TrialStatus::kWrongResult);
  EXPECT_EQ(results[1].status, TrialStatus::kOk);
}

TEST_F(WorkerTest, ACrashIsTheResultOfItsCandidateOnly) {
  const auto measurer = MakeFaultyMeasurer();
  auto results = Measured(*measurer, {{GoodSchedule(0)},
                                      {GoodSchedule(1)},
                                      {WithFault(GoodSchedule(2), Fault::kCrash)},
                                      {GoodSchedule(3)},
                                      {GoodSchedule(4)}});
  for (const size_t i : {0, 1, 3, 4}) {
    EXPECT_EQ(results[i].status, TrialStatus::kOk) << i << ": " << results[i].message;
  }
  EXPECT_EQ(results[2].status, TrialStatus::kCrashed);
  EXPECT_THAT(results[2].message, HasSubstr("signal 6"));
  // A later request is served too.
  EXPECT_EQ(Measured(*measurer, {{GoodSchedule(5)}})[0].status, TrialStatus::kOk);
}

// The first candidate is also compiled while the reference is computed.
TEST_F(WorkerTest, ACrashOfTheFirstCandidateIsItsResult) {
  const auto measurer = MakeFaultyMeasurer();
  auto results =
      Measured(*measurer, {{WithFault(GoodSchedule(0), Fault::kCrash)}, {GoodSchedule(1)}});
  EXPECT_EQ(results[0].status, TrialStatus::kCrashed);
  EXPECT_EQ(results[1].status, TrialStatus::kOk) << results[1].message;
}

TEST_F(WorkerTest, AHangingCompilationTimesOut) {
  const auto measurer = MakeFaultyMeasurer({.seconds_per_candidate = 1});
  auto results =
      Measured(*measurer,
               {{WithFault(GoodSchedule(0), Fault::kHang)}, {GoodSchedule(1)}, {GoodSchedule(2)}});
  EXPECT_EQ(results[0].status, TrialStatus::kTimedOut);
  for (const size_t i : {1, 2})
    EXPECT_EQ(results[i].status, TrialStatus::kOk) << i << ": " << results[i].message;
}

TEST_F(WorkerTest, AHangingKernelTimesOut) {
  const auto measurer = MakeFaultyMeasurer({.seconds_per_candidate = 1});
  auto results =
      Measured(*measurer, {{WithFault(GoodSchedule(0), Fault::kHangMeasuring)}, {GoodSchedule(1)}});
  EXPECT_EQ(results[0].status, TrialStatus::kTimedOut);
  EXPECT_EQ(results[1].status, TrialStatus::kOk) << results[1].message;
}

// A worker ends when its device fails, so each of the first five candidates needs a new worker.
TEST_F(WorkerTest, AFailingDeviceIsTheResultOfItsCandidateOnly) {
  Workload workload = WorkloadOf(MatmulRelu());
  workload.target.device = second_target::PrinterWith(0).device;
  std::vector<CandidateRequest> candidates;
  for (int i = 0; i < 5; ++i) candidates.push_back({GoodSchedule(i)});
  candidates.push_back({kIllegalSchedule});
  auto results = Measured(*MakeFaultyMeasurer(), candidates, workload);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(results[i].status, TrialStatus::kCrashed) << i;
    EXPECT_THAT(results[i].message, HasSubstr("run 3 of product failed")) << i;
  }
  EXPECT_EQ(results[5].status, TrialStatus::kIllegal);
}

TEST_F(WorkerTest, AGreedyCandidateIsOutOfMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's memory is not limited";
#endif
  const auto measurer = MakeFaultyMeasurer({.memory_bytes = int64_t{1} << 30});
  auto results =
      Measured(*measurer, {{WithFault(GoodSchedule(0), Fault::kExhaust)}, {GoodSchedule(1)}});
  EXPECT_EQ(results[0].status, TrialStatus::kOutOfMemory) << results[0].message;
  EXPECT_EQ(results[1].status, TrialStatus::kOk) << results[1].message;
}

TEST_F(WorkerTest, WorkloadsTakeTurns) {
  const auto measurer = MakeMeasurer();
  const Workload softmax = WorkloadOf(testing::SoftmaxRows());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Measured(*measurer, {{GoodSchedule(round)}})[0].status, TrialStatus::kOk);
    EXPECT_EQ(Measured(*measurer, {{"lower direct\n"}}, softmax)[0].status, TrialStatus::kOk);
  }
}

TEST_F(WorkerTest, ComparesInTurns) {
  const auto measurer = MakeMeasurer();
  const std::vector<CandidateRequest> requests = {{GoodSchedule(0)}, {GoodSchedule(1)}};
  std::map<size_t, size_t> samples;
  const Status status = measurer->Compare(WorkloadOf(MatmulRelu()), requests, 0,
                                          [&](size_t i, const Measurement& m) -> Status {
                                            samples[i] = m.samples.size();
                                            return {};
                                          });
  EXPECT_TRUE(status) << status.error().Format();
  EXPECT_EQ(samples, (std::map<size_t, size_t>{{0, 7}, {1, 7}})) << "the least number of rounds";
}

TEST_F(WorkerTest, CancellingStopsARequest) {
  const auto measurer = MakeFaultyMeasurer({}, [] { return true; });
  const std::vector<CandidateRequest> requests = {{WithFault(GoodSchedule(0), Fault::kHang)}};
  const Status status = measurer->Measure(WorkloadOf(MatmulRelu()), requests, std::nullopt,
                                          [](size_t, const Measurement&) -> Status { return {}; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
}

TEST_F(WorkerTest, AWorkerThatIsNotThereIsAnError) {
  const auto measurer = MakeWorkerMeasurer("/nonexistent/tunec-worker", {}, {});
  const std::vector<CandidateRequest> requests = {{GoodSchedule(0)}};
  const Status status = measurer->Measure(WorkloadOf(MatmulRelu()), requests, std::nullopt,
                                          [](size_t, const Measurement&) -> Status { return {}; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
}

// Each impostor is a shell script that is started instead of the worker.
TEST_F(WorkerTest, AProgramThatIsNoWorkerIsAnError) {
  struct Impostor {
    std::string script;
    std::string message;
    double seconds = 30;
  };
  const std::string path = ::testing::TempDir() + "/impostor-" + std::to_string(getpid());
  for (const auto& [script, message, seconds] : {
           Impostor{"exit 7", "exit status 7"},
           Impostor{"echo 'cannot load a library' >&2; exit 127", "cannot load a library"},
           Impostor{"exec cat", "malformed event"},  // answers with the request itself
           Impostor{"exec yes", "expected at most 65536"},
           Impostor{"exec sleep 1000", "no answer within 0.2 s", 0.2},
       }) {
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    const auto measurer = MakeWorkerMeasurer(path, {.seconds_to_greet = seconds}, {});
    const std::vector<CandidateRequest> requests = {{GoodSchedule(0)}};
    const Status status =
        measurer->Measure(WorkloadOf(MatmulRelu()), requests, std::nullopt,
                          [](size_t, const Measurement&) -> Status { return {}; });
    ASSERT_FALSE(status) << script;
    EXPECT_EQ(status.error().code, ErrorCode::kIo) << script;
    EXPECT_THAT(status.error().message, HasSubstr(path));
    EXPECT_THAT(status.error().message, HasSubstr(message));
  }
  std::filesystem::remove(path);
}

// A worker for a real device has no memory limit. The driver's mappings count as data of the
// process, though few of them are memory.
TEST_F(WorkerTest, OnlyAWorkerOfTheHostHasItsMemoryLimited) {
  const std::string path = ::testing::TempDir() + "/words-" + std::to_string(getpid());
  const std::string words = path + ".txt";
  std::ofstream(path) << "#!/bin/sh\necho \"$@\" > " << words << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  Workload device = WorkloadOf(MatmulRelu());
  device.target = second_target::PrinterWith(0);
  Workload emulated = WorkloadOf(MatmulRelu());
  emulated.target = testing::EmulatedGpu();
  const auto words_for = [&](const Workload& workload) {
    const auto measurer = MakeWorkerMeasurer(path, {.memory_bytes = 12345}, {});
    const std::vector<CandidateRequest> requests = {{GoodSchedule(0)}};
    EXPECT_FALSE(measurer->Measure(workload, requests, std::nullopt,
                                   [](size_t, const Measurement&) -> Status { return {}; }));
    std::string line;
    std::getline(std::ifstream(words), line);
    return line;
  };
  EXPECT_THAT(words_for(WorkloadOf(MatmulRelu())), HasSubstr("--memory 12345"));
  EXPECT_THAT(words_for(emulated), HasSubstr("--memory 12345"));
  EXPECT_THAT(words_for(device), HasSubstr("--memory 0"));
  std::filesystem::remove(path);
  std::filesystem::remove(words);
}

}  // namespace
}  // namespace tunec
