// Tests of a model on a GPU, on a driver that runs the test's script. Usually the model's kernels
// run as one CUDA graph, whose pointers are updated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/load_driver.h"
#include "runtime/executable.h"
#include "tests/runtime/cuda/sums_kernel.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::Launch;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Floats = std::array<float, kFloats>;

TensorSpec Spec(std::string name) {
  return {std::move(name), DataType::kF32, {static_cast<int64_t>(kFloats)}};
}

// Returns a plan that computes y = f(f(x)), z = f(c) and x again, where f(v) is 2 * (v + 1).
ExecutablePlan Plan(const std::shared_ptr<Device>& device,
                    const std::shared_ptr<const DeviceCode>& code) {
  static const Floats c = {1, 2, 3};
  const auto step = [&](std::string name, ValueRef from, ValueRef to) {
    Step made{.name = std::move(name), .kernel = {.workspace_bytes = kSumsBytes}};
    made.arguments = {from, to};
    made.code = code;
    return made;
  };
  return {.device = device,
          .inputs = {Spec("x")},
          .outputs = {Spec("y"), Spec("z"), Spec("x")},
          .constants = {{.name = "c",
                         .bytes = kSumsBytes,
                         .data = std::shared_ptr<const void>(&c, [](const void*) {}),
                         .alignment = 4}},
          .steps = {step("one", ValueRef::Input(0), ValueRef::Arena(0)),
                    step("two", ValueRef::Arena(0), ValueRef::Output(0)),
                    step("three", ValueRef::Constant(0), ValueRef::Output(1)),
                    MakeCopyStep("copy", ValueRef::Input(0), ValueRef::Output(2), kSumsBytes)},
          .arena_bytes = kSumsBytes};
}

class CudaExecutableTest : public ::testing::Test {
 protected:
  CudaExecutableTest() {
    script_.functions = {"first", "second"};
    script_.run = RunSums;
  }

  // Checks that all resources are released, also after a fault. Checks nothing after a hang.
  void TearDown() override {
    executable_.reset();
    if (script_.hanging_launch > 0) return;
    EXPECT_EQ(script_.contexts, 0);
    EXPECT_EQ(script_.allocations, 0);
    EXPECT_EQ(script_.streams_events, 0);
    EXPECT_EQ(script_.modules, 0);
    EXPECT_EQ(script_.graphs, 0);
  }

  Status Make() {
    TUNEC_ASSIGN(auto opened, OpenCudaDevice(*LoadCudaDriver(kLibrary), 0, /*hang_seconds=*/0.02));
    const std::shared_ptr<Device> device = std::move(opened);
    TUNEC_ASSIGN(const auto code, device->Load(SumsImage()));
    TUNEC_ASSIGN(Executable executable, Executable::Make(Plan(device, code)));
    executable_ = std::make_unique<Executable>(std::move(executable));
    return {};
  }

  void MustMake() {
    const Status made = Make();
    ASSERT_TRUE(made) << made.error().Format();
    script_.log.clear();
    script_.stream_queries = script_.event_queries = 0;
  }

  struct Results {
    alignas(16) Floats y = {};
    alignas(16) Floats z = {};
    alignas(16) Floats x = {};
  };
  Status Run(const Floats& x, Results& results, const RunOptions& options = {}) {
    const void* const from[] = {x.data()};
    void* const to[] = {results.y.data(), results.z.data(), results.x.data()};
    return executable_->Run(from, to, options);
  }

  static void ExpectResults(const Floats& x, const Results& results) {
    for (size_t i = 0; i < kFloats; ++i) EXPECT_EQ(results.y[i], 4 * x[i] + 6) << i;
    EXPECT_EQ(results.z[0], 4);
    EXPECT_EQ(results.z[11], 2);
    EXPECT_EQ(results.x, x);
  }

  Script& script_ = NewScript();
  std::unique_ptr<Executable> executable_;
};

constexpr BufferLocation kThere = BufferLocation::kDevice;
constexpr std::array kInputsThere = {kThere};
constexpr std::array kOutputsThere = {kThere, kThere, kThere};
constexpr RunOptions kAllThere = {.inputs = kInputsThere, .outputs = kOutputsThere};

TEST_F(CudaExecutableTest, ItsKernelsAreOneGraph) {
  ASSERT_TRUE(Make());
  EXPECT_THAT(script_.log, ElementsAre("load", "copy 48 in", "prepare a graph of 12"));
  script_.log.clear();
  for (int round = 0; round < 3; ++round) {
    const Floats x = {static_cast<float>(round), 5};
    Results results;
    ASSERT_TRUE(Run(x, results));
    ExpectResults(x, results);
  }
  // Each host buffer has a buffer on the device, with the same address in every run. So pointers
  // are updated only in the first run. Each kernel has four launches.
  std::vector<std::string> expected = {"copy 48 in"};
  for (int kernel = 0; kernel < 3; ++kernel) {
    expected.insert(expected.end(), 3, "update first");
    expected.emplace_back("update second");
  }
  const std::vector<std::string> run = {"launch a graph", "copy 48 within", "copy 48 out",
                                        "copy 48 out", "copy 48 out"};
  expected.insert(expected.end(), run.begin(), run.end());
  for (int round = 1; round < 3; ++round) {
    expected.emplace_back("copy 48 in");
    expected.insert(expected.end(), run.begin(), run.end());
  }
  EXPECT_EQ(script_.log, expected);
  EXPECT_THAT(executable_->Notes(), IsEmpty());
}

TEST_F(CudaExecutableTest, BuffersOfTheGpuAreItsKernelsOwn) {
  MustMake();
  EXPECT_EQ(executable_->DeviceNumber(), 0);
  for (int round = 0; round < 2; ++round) {
    alignas(16) const Floats x = {static_cast<float>(round), 5};
    Results results;
    ASSERT_TRUE(Run(x, results, kAllThere));
    ExpectResults(x, results);
  }
  EXPECT_THAT(script_.log, Not(Contains(HasSubstr(" in"))));
  EXPECT_THAT(script_.log, Not(Contains(HasSubstr(" out"))));
  EXPECT_THAT(script_.log, Not(Contains(HasSubstr("prepare"))));  // not prepared again
}

TEST_F(CudaExecutableTest, OnlyKernelsWithOtherPointersAreUpdated) {
  MustMake();
  alignas(16) const Floats x = {1, 2};
  Results results;
  ASSERT_TRUE(Run(x, results, kAllThere));
  script_.log.clear();
  alignas(16) const Floats other = {3, 4};
  ASSERT_TRUE(Run(other, results, kAllThere));
  EXPECT_THAT(script_.log, ElementsAre("update first", "update first", "update first",
                                       "update second", "launch a graph", "copy 48 within"));
  ExpectResults(other, results);
}

TEST_F(CudaExecutableTest, RunsInTheCallersStream) {
  MustMake();
  alignas(16) const Floats x = {1, 2};
  Results results;
  int dummy = 0;
  auto* const stream = reinterpret_cast<CuStream>(&dummy);
  ASSERT_TRUE(Run(x, results, {.stream = stream}));
  ASSERT_TRUE(Run(x, results));
  ASSERT_EQ(script_.streams.size(), 2u);
  EXPECT_EQ(script_.streams[0], stream);
  EXPECT_NE(script_.streams[1], stream);
}

// A call of Run that begins during another call uses a separate graph.
TEST_F(CudaExecutableTest, RunsAtOnceHaveGraphsOfTheirOwn) {
  MustMake();
  const Floats inner = {7, 8};
  Results of_inner;
  bool began = false;
  script_.run = [&](const Launch& launch) {
    if (!began) {
      began = true;
      EXPECT_TRUE(Run(inner, of_inner));
    }
    RunSums(launch);
  };
  const Floats outer = {1, 2};
  Results of_outer;
  ASSERT_TRUE(Run(outer, of_outer));
  ExpectResults(outer, of_outer);
  ExpectResults(inner, of_inner);
  EXPECT_EQ(executable_->Memory().contexts, 2);
  EXPECT_THAT(script_.log, Contains("prepare a graph of 12").Times(1));
  EXPECT_NE(script_.streams[0], script_.streams[1]);
}

TEST_F(CudaExecutableTest, WithoutAGraphItSaysWhy) {
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange)
  script_.graph = static_cast<CuResult>(801);
  MustMake();
  EXPECT_THAT(executable_->Notes(),
              ElementsAre("kernels are launched one by one: NVIDIA S1 (device 0) cannot prepare a "
                          "graph: CUDA error 801"));
  alignas(16) const Floats x = {1, 2};
  Results results;
  ASSERT_TRUE(Run(x, results));
  ExpectResults(x, results);
  EXPECT_THAT(script_.log, Contains(HasSubstr("launch second grid")).Times(3));
  EXPECT_THAT(script_.log, Not(Contains("launch a graph")));
}

TEST_F(CudaExecutableTest, AProfileLaunchesKernelByKernel) {
  MustMake();
  alignas(16) const Floats x = {1, 2};
  Results results;
  const void* const from[] = {x.data()};
  void* const to[] = {results.y.data(), results.z.data(), results.x.data()};
  const auto seconds = executable_->ProfileRun(from, to);
  ASSERT_TRUE(seconds) << seconds.error().Format();
  EXPECT_NEAR(seconds->at(0), 4e-3, 1e-9);  // four launches, a millisecond each
  ExpectResults(x, results);
}

TEST_F(CudaExecutableTest, MemoryThatIsNotFreeIsSaidBeforeItIsTaken) {
  script_.memory_bytes = 300;
  const Status made = Make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(made.error().message,
            "NVIDIA S1 (device 0) has 300 of 300 bytes free, 352 are needed: weights 256, arena "
            "48, workspace 48");
  EXPECT_EQ(script_.allocations, 0);
}

TEST_F(CudaExecutableTest, MemoryForBuffersMayBeLacking) {
  script_.memory_bytes = 352 + 100;  // enough for one of four buffers
  MustMake();
  alignas(16) const Floats x = {1, 2};
  Results results;
  const Status ran = Run(x, results);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::kResourceLimit);
  EXPECT_THAT(ran.error().message, HasSubstr("has no 48 bytes free, only 4 of 452"));
  ASSERT_TRUE(Run(x, results, kAllThere));  // needs no memory
}

TEST_F(CudaExecutableTest, AFaultIsBlamedOnTheGraphAndStays) {
  for (const CuResult fault :
       {CuResult::kIllegalAddress, CuResult::kMisalignedAddress, CuResult::kLaunchFailed}) {
    script_ = {};
    script_.functions = {"first", "second"};
    script_.run = RunSums;
    MustMake();
    script_.faulting_launch = 5;
    script_.fault = fault;
    alignas(16) const Floats x = {1, 2};
    Results results;
    const Status ran = Run(x, results);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::kDevice);
    EXPECT_THAT(ran.error().message, HasSubstr("NVIDIA S1 (device 0) is lost: "));
    EXPECT_THAT(ran.error().message, HasSubstr(fmt::format("({})", static_cast<int>(fault))));
    EXPECT_THAT(ran.error().message, HasSubstr("in a graph of 12 launches from first on"));
    EXPECT_EQ(Run(x, results).error().message, ran.error().message);
    executable_.reset();
  }
}

// After a hang, outputs must not be copied to the host, because the copy would wait for the run.
TEST_F(CudaExecutableTest, AHangIsSaidWhereverItsOutputsLie) {
  for (const RunOptions& options : {RunOptions{}, kAllThere}) {
    script_ = {};
    script_.functions = {"first", "second"};
    script_.run = RunSums;
    MustMake();
    script_.hanging_launch = 5;
    alignas(16) const Floats x = {1, 2};
    Results results;
    const Status ran = Run(x, results, options);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ErrorCode::kDevice);
    EXPECT_THAT(ran.error().message,
                HasSubstr("NVIDIA S1 (device 0) hangs, in a graph of 12 launches from first on: "));
    EXPECT_EQ(Run(x, results, options).error().message, ran.error().message);
    executable_.reset();
  }
}

// --- Queued runs ---

CuStream StreamAt(int& dummy) { return reinterpret_cast<CuStream>(&dummy); }

RunOptions QueuedIn(CuStream stream) {
  RunOptions options = kAllThere;
  options.stream = stream;
  options.returns = RunReturn::kQueued;
  return options;
}

TEST_F(CudaExecutableTest, AQueuedRunIsNotWaitedFor) {
  MustMake();
  script_.holds = true;
  int dummy = 0;
  alignas(16) const Floats x = {1, 2};
  Results results;
  ASSERT_TRUE(Run(x, results, QueuedIn(StreamAt(dummy))));
  EXPECT_EQ(results.y, Floats{});
  EXPECT_EQ(script_.stream_queries + script_.event_queries, 0);
  EXPECT_EQ(script_.streams, std::vector{StreamAt(dummy)});
  EXPECT_THAT(script_.log, Not(Contains("wait for an event")));
  script_.holds = false;
  ASSERT_TRUE(executable_->Wait());
  ExpectResults(x, results);
  EXPECT_EQ(script_.stream_queries, 0);
  EXPECT_EQ(script_.event_queries, 1);
  ASSERT_TRUE(executable_->Wait());  // no run is queued
  EXPECT_EQ(script_.event_queries, 1);
}

// The runs use the same memory one after the other. The stream waits between them.
TEST_F(CudaExecutableTest, QueuedRunsOfAStreamFollowEachOther) {
  MustMake();
  script_.holds = true;
  int dummy = 0;
  alignas(16) const std::array<Floats, 3> x = {Floats{1, 2}, Floats{3, 4}, Floats{5, 6}};
  std::array<Results, 3> results;
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(Run(x.at(i), results.at(i), QueuedIn(StreamAt(dummy))));
  EXPECT_EQ(executable_->Memory().contexts, 1);
  EXPECT_EQ(script_.stream_queries, 0);
  // The wait is needed even for an equal stream handle, which may belong to a new stream.
  EXPECT_THAT(script_.log, Contains("wait for an event").Times(2));
  script_.holds = false;
  ASSERT_TRUE(executable_->Wait());
  for (size_t i = 0; i < x.size(); ++i) ExpectResults(x.at(i), results.at(i));
}

// The script runs the second stream's work first, so streams that shared memory could give wrong
// results.
TEST_F(CudaExecutableTest, QueuedRunsOfTwoStreamsHaveMemoryOfTheirOwn) {
  MustMake();
  script_.holds = true;
  std::array<int, 2> dummies = {};
  alignas(16) const std::array<Floats, 4> x = {Floats{1, 2}, Floats{3, 4}, Floats{5, 6},
                                               Floats{7, 8}};
  std::array<Results, 4> results;
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(Run(x.at(i), results.at(i), QueuedIn(StreamAt(dummies.at(i % 2)))));
  EXPECT_EQ(executable_->Memory().contexts, 2);
  script_.holds = false;
  ASSERT_TRUE(executable_->Wait());
  for (size_t i = 0; i < x.size(); ++i) ExpectResults(x.at(i), results.at(i));
  // Memory of completed runs may be reused without waiting.
  ASSERT_TRUE(Run(x[0], results[0], QueuedIn(StreamAt(dummies[0]))));
  Results waited;
  ASSERT_TRUE(Run(x[1], waited));
  ExpectResults(x[1], waited);
  EXPECT_EQ(executable_->Memory().contexts, 2);
}

TEST_F(CudaExecutableTest, AFaultOfAQueuedRunIsSaidByTheNextCall) {
  for (const bool by_wait : {true, false}) {
    script_ = {};
    script_.functions = {"first", "second"};
    script_.run = RunSums;
    MustMake();
    script_.faulting_launch = 5;
    int dummy = 0;
    alignas(16) const Floats x = {1, 2};
    Results results;
    ASSERT_TRUE(Run(x, results, QueuedIn(StreamAt(dummy))));
    const int launches = script_.launches;
    const Status later = by_wait ? executable_->Wait() : Run(x, results, QueuedIn(StreamAt(dummy)));
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code, ErrorCode::kDevice);
    EXPECT_THAT(later.error().message,
                HasSubstr("NVIDIA S1 (device 0) is lost: CUDA_ERROR_ILLEGAL_ADDRESS (700): as "
                          "scripted, in a graph of 12 launches from first on"));
    EXPECT_EQ(script_.launches, launches);
    EXPECT_FALSE(Run(x, results));
    executable_.reset();
  }
}

TEST_F(CudaExecutableTest, AQueuedRunThatCannotStartSaysSoAtOnce) {
  MustMake();
  script_.rejected_launch = 1;
  int dummy = 0;
  alignas(16) const Floats x = {1, 2};
  Results results;
  const Status ran = Run(x, results, QueuedIn(StreamAt(dummy)));
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("cannot start a graph of 12 launches from first on"));
  EXPECT_TRUE(executable_->Wait());
  ASSERT_TRUE(Run(x, results, QueuedIn(StreamAt(dummy))));
  ASSERT_TRUE(executable_->Wait());
  ExpectResults(x, results);
}

TEST_F(CudaExecutableTest, AQueuedRunThatHangsIsSaidByWhoWaits) {
  MustMake();
  script_.hanging_launch = 5;
  int dummy = 0;
  alignas(16) const Floats x = {1, 2};
  Results results;
  ASSERT_TRUE(Run(x, results, QueuedIn(StreamAt(dummy))));
  const Status waited = executable_->Wait();
  ASSERT_FALSE(waited);
  EXPECT_THAT(waited.error().message,
              HasSubstr("NVIDIA S1 (device 0) hangs, in a graph of 12 launches from first on: "));
}

// The scripted driver aborts if memory, code or a graph is released before queued runs are done.
TEST_F(CudaExecutableTest, TheEndWaitsForQueuedRuns) {
  MustMake();
  script_.holds = true;
  int dummy = 0;
  alignas(16) const Floats x = {1, 2};
  Results results;
  ASSERT_TRUE(Run(x, results, QueuedIn(StreamAt(dummy))));
  script_.unfinished_queries = 3;
  executable_.reset();
  ExpectResults(x, results);
}

TEST_F(CudaExecutableTest, MemoryOfRunsThatAreOverIsFreed) {
  MustMake();
  alignas(16) const Floats x = {1, 2};
  Results results;
  ASSERT_TRUE(Run(x, results));
  executable_->FreeIdle();
  EXPECT_EQ(executable_->Memory().contexts, 0);
  EXPECT_EQ(script_.allocations, 1);  // for the constant
  EXPECT_EQ(script_.graphs, 0);
  ASSERT_TRUE(Run(x, results));
  ExpectResults(x, results);
  EXPECT_EQ(executable_->Memory().contexts, 1);
}

TEST_F(CudaExecutableTest, MemoryOfAQueuedRunIsNot) {
  MustMake();
  script_.holds = true;
  int dummy = 0;
  alignas(16) const Floats x = {1, 2};
  Results results;
  ASSERT_TRUE(Run(x, results, QueuedIn(StreamAt(dummy))));
  executable_->FreeIdle();
  EXPECT_EQ(executable_->Memory().contexts, 1);
  script_.holds = false;
  ASSERT_TRUE(executable_->Wait());
  ExpectResults(x, results);
  executable_->FreeIdle();
  EXPECT_EQ(executable_->Memory().contexts, 0);
}

TEST_F(CudaExecutableTest, OnlyWhatNeedNotWaitIsQueued) {
  MustMake();
  int dummy = 0;
  alignas(16) const Floats x = {1, 2};
  Results results;
  RunOptions options = QueuedIn(nullptr);
  EXPECT_EQ(Run(x, results, options).error().message, "a queued run needs a stream");
  options = QueuedIn(StreamAt(dummy));
  options.inputs = {};
  EXPECT_EQ(Run(x, results, options).error().message,
            "a queued run needs device memory, but input 'x' is in host memory");
  options = QueuedIn(StreamAt(dummy));
  constexpr std::array kLastOnHost = {kThere, kThere, BufferLocation::kHost};
  options.outputs = kLastOnHost;
  const Status ran = Run(x, results, options);
  EXPECT_EQ(ran.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ran.error().message,
            "a queued run needs device memory, but output 'x' is in host memory");
  EXPECT_EQ(script_.launches, 0);
}

// A profiling call waits for the run, so the times are complete when the call returns.
TEST_F(CudaExecutableTest, AProfileIsNeverQueued) {
  MustMake();
  int dummy = 0;
  alignas(16) const Floats x = {1, 2};
  Results results;
  const void* const from[] = {x.data()};
  void* const to[] = {results.y.data(), results.z.data(), results.x.data()};
  const auto seconds = executable_->ProfileRun(from, to, QueuedIn(StreamAt(dummy)));
  ASSERT_TRUE(seconds) << seconds.error().Format();
  EXPECT_NEAR(seconds->at(0), 4e-3, 1e-9);
}

TEST_F(CudaExecutableTest, ALaunchThatIsRejectedIsSaidOnce) {
  MustMake();
  script_.rejected_launch = 1;
  alignas(16) const Floats x = {1, 2};
  Results results;
  const Status ran = Run(x, results);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("cannot start a graph of 12 launches from first on: "
                                             "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"));
  ASSERT_TRUE(Run(x, results));
  ExpectResults(x, results);
}

}  // namespace
}  // namespace tunec
