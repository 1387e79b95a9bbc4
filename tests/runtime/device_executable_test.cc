// Tests of executables whose steps run on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/runtime/allocation_counter.h"
#include "tests/runtime/sample_device.h"
#include "tests/runtime/sample_kernels.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Step DeviceStep(std::string name, const Kernel& kernel, std::vector<ValueRef> arguments) {
  Step step{.name = std::move(name), .kernel = kernel, .arguments = std::move(arguments)};
  step.code = std::make_shared<SampleCode>(kernel);
  for (KernelPhase& phase : step.kernel.phases) phase.function = nullptr;
  return step;
}

// Returns a plan that computes y = center(x + reverse(c)) + x through the arena, and x again. The
// host reverses the constant.
ExecutablePlan SamplePlan(DeviceLog& log, size_t memory = SIZE_MAX) {
  const ValueRef x = ValueRef::Input(0);
  const ValueRef sum = ValueRef::Arena(0);
  const ValueRef centered = ValueRef::Arena(kBytes);
  return {
      .device = std::make_shared<SampleDevice>(log, memory),
      .inputs = {VectorSpec("x")},
      .outputs = {VectorSpec("y"), VectorSpec("again")},
      .constants = {VectorConstant("c", Ramp(10, 3)), {.name = "c.packed", .bytes = kBytes}},
      .preprocessing = {{"pack", ReverseKernel(), {ValueRef::Constant(0), ValueRef::Constant(1)}}},
      .steps = {DeviceStep("add", AddKernel(), {x, ValueRef::Constant(1), sum}),
                DeviceStep("center", CenterKernel(), {sum, centered}),
                DeviceStep("residual", AddKernel(), {centered, x, ValueRef::Output(0)}),
                MakeCopyStep("copy", x, ValueRef::Output(1), kBytes)},
      .arena_bytes = 2 * kBytes,
      .threads = 2};
}

Vector SampleResult(const Vector& x) {
  const Vector c = Ramp(10, 3);
  Vector sums;
  float total = 0;
  for (size_t i = 0; i < x.size(); ++i) total += sums[i] = x[i] + c[x.size() - 1 - i];
  Vector y;
  for (size_t i = 0; i < x.size(); ++i) y[i] = sums[i] - total / kLength + x[i];
  return y;
}

void ExpectNear(const Vector& actual, const Vector& expected) {
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-2) << i;
}

Executable Make(ExecutablePlan plan) {
  Result<Executable> made = Executable::Make(std::move(plan));
  EXPECT_TRUE(made.has_value()) << made.error().Format();
  return std::move(*made);
}

constexpr BufferLocation kThere = BufferLocation::kDevice;
constexpr BufferLocation kHere = BufferLocation::kHost;

class DeviceExecutable : public ::testing::Test {
 protected:
  Status Run(std::vector<const void*> inputs, std::vector<void*> outputs,
             const RunOptions& options = {}) {
    return executable_.Run(inputs, outputs, options);
  }

  DeviceLog log_;
  Executable executable_ = Make(SamplePlan(log_));
};

TEST_F(DeviceExecutable, CopiesTheHostsBuffersThereAndBack) {
  EXPECT_EQ(executable_.DeviceNumber(), SampleDevice::kNumber);
  EXPECT_EQ(log_.copies_in, 1);  // the packed constant, once
  for (int round = 0; round < 3; ++round) {
    const Vector x = Ramp(static_cast<float>(round), 2);
    Vector y{}, again{};
    ASSERT_TRUE(Run({x.data()}, {y.data(), again.data()}));
    ExpectNear(y, SampleResult(x));
    EXPECT_EQ(again, x);
  }
  EXPECT_EQ(log_.copies_in, 1 + 3);
  EXPECT_EQ(log_.copies_out, 2 * 3);
  EXPECT_EQ(log_.copies_within, 3);
  EXPECT_EQ(log_.kernels, 3 * 3);
  EXPECT_EQ(log_.waits, 1 + 3);  // one wait per run
  EXPECT_THAT(executable_.Notes(), ElementsAre());
}

TEST_F(DeviceExecutable, TheDevicesBuffersAreUsedWhereTheyAre) {
  alignas(16) const Vector x = Ramp(5, 2);
  alignas(16) Vector y{};
  alignas(16) Vector again{};
  const std::array inputs = {kThere};
  const std::array outputs = {kThere, kThere};
  ASSERT_TRUE(Run({x.data()}, {y.data(), again.data()}, {.inputs = inputs, .outputs = outputs}));
  ExpectNear(y, SampleResult(x));
  EXPECT_EQ(again, x);
  EXPECT_EQ(log_.copies_in, 1);
  EXPECT_EQ(log_.copies_out, 0);
  EXPECT_EQ(log_.copies_within, 1);  // the copy in the plan
  EXPECT_THAT(executable_.Notes(), ElementsAre());
}

TEST_F(DeviceExecutable, BuffersOfBothMayBeMixed) {
  alignas(16) const Vector x = Ramp(5, 2);
  Vector y{};
  alignas(16) Vector again{};
  const std::array outputs = {kHere, kThere};
  ASSERT_TRUE(Run({x.data()}, {y.data(), again.data()}, {.outputs = outputs}));
  ExpectNear(y, SampleResult(x));
  EXPECT_EQ(again, x);
  EXPECT_EQ(log_.copies_out, 1);
}

TEST_F(DeviceExecutable, WhatKernelsCannotReadByVectorsIsCopiedAside) {
  alignas(16) std::array<float, kLength + 1> in{};
  alignas(16) std::array<float, kLength + 1> out{};
  alignas(16) Vector again{};
  const Vector x = Ramp(5, 2);
  std::ranges::copy(x, in.begin() + 1);
  const std::array inputs = {kThere};
  const std::array outputs = {kThere, kThere};
  ASSERT_TRUE(
      Run({in.data() + 1}, {out.data() + 1, again.data()}, {.inputs = inputs, .outputs = outputs}));
  Vector y{};
  std::copy(out.begin() + 1, out.end(), y.begin());
  ExpectNear(y, SampleResult(x));
  EXPECT_EQ(log_.copies_within, 3);
  EXPECT_THAT(executable_.Notes(),
              ElementsAre("input 'x' is not aligned to 16 bytes: each run copies it",
                          "output 'y' is not aligned to 16 bytes: each run copies it"));
}

TEST_F(DeviceExecutable, AnInputMayBeAnOutputOfTheDevice) {
  alignas(16) Vector x = Ramp(5, 2);
  alignas(16) Vector again{};
  const Vector expected = SampleResult(x);
  const Vector before = x;
  const std::array inputs = {kThere};
  const std::array outputs = {kThere, kThere};
  ASSERT_TRUE(Run({x.data()}, {x.data(), again.data()}, {.inputs = inputs, .outputs = outputs}));
  ExpectNear(x, expected);
  EXPECT_EQ(again, before);
}

TEST_F(DeviceExecutable, ArgumentsAreSetOnlyForBuffers) {
  const Vector x = Ramp(1, 1);
  Vector y{}, again{};
  ASSERT_TRUE(Run({x.data()}, {y.data(), again.data()}));
  EXPECT_EQ(log_.rebound, 3);  // x twice, y once; the copy is not a kernel
}

TEST_F(DeviceExecutable, ProfileTimesEachStepByTheDevicesClock) {
  const Vector x = Ramp(1, 1);
  Vector y{}, again{};
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data(), again.data()};
  const auto seconds = executable_.ProfileRun(inputs, outputs);
  ASSERT_TRUE(seconds) << seconds.error().Format();
  ASSERT_EQ(seconds->size(), 4u);
  EXPECT_DOUBLE_EQ(seconds->at(0), 1e-3);
  EXPECT_DOUBLE_EQ(seconds->at(2), 1e-3);
  EXPECT_GE(seconds->at(3), 0);
  ExpectNear(y, SampleResult(x));
  EXPECT_EQ(again, x);
}

TEST_F(DeviceExecutable, StepsAreNotRepeated) {
  const Vector x = Ramp(1, 1);
  Vector y{}, again{};
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data(), again.data()};
  const auto seconds = executable_.ProfileRepeated(inputs, outputs, 2);
  ASSERT_FALSE(seconds);
  EXPECT_EQ(seconds.error().code, ErrorCode::kUnsupported);
}

TEST_F(DeviceExecutable, RunsAtOnceHaveQueuesOfTheirOwn) {
  constexpr int kCallers = 3;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&, caller] {
      const Vector x = Ramp(static_cast<float>(caller), 2);
      const Vector expected = SampleResult(x);
      for (int round = 0; round < 50; ++round) {
        Vector y{}, again{};
        if (!Run({x.data()}, {y.data(), again.data()}) || again != x) wrong.fetch_add(1);
        for (size_t i = 0; i < y.size(); ++i)
          if (std::abs(y[i] - expected[i]) > 1e-2F) wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(log_.queues, executable_.Memory().contexts);
  EXPECT_LE(log_.queues, kCallers);
}

TEST_F(DeviceExecutable, AllocatesNothingOnceWarm) {
  if (!CanCountAllocations()) GTEST_SKIP() << "not under a sanitizer";
  alignas(16) const Vector x = Ramp(0, 1);
  alignas(16) Vector y{};
  alignas(16) Vector again{};
  const void* const from[] = {x.data()};
  void* const to[] = {y.data(), again.data()};
  const std::array inputs = {kThere};
  const std::array outputs = {kThere, kThere};
  const RunOptions there{.inputs = inputs, .outputs = outputs};
  ASSERT_TRUE(executable_.Run(from, to));  // allocates memory for the host's buffers
  const int64_t before = AllocationCount();
  const int on_device = log_.allocated;
  bool good = true;
  for (int round = 0; round < 100; ++round) {
    good = good && executable_.Run(from, to).has_value();
    good = good && executable_.Run(from, to, there).has_value();
  }
  EXPECT_EQ(AllocationCount() - before, 0);
  EXPECT_EQ(log_.allocated, on_device);
  EXPECT_TRUE(good);
}

TEST_F(DeviceExecutable, KnowsWhatItHolds) {
  const MemoryUse use = executable_.Memory();
  EXPECT_EQ(use.constants, kBytes);  // the packed constant
  EXPECT_EQ(use.per_context, 2 * kBytes + kTasks * 4);
  EXPECT_EQ(use.contexts, 1);
}

TEST_F(DeviceExecutable, FreesWhatRunsHaveLeft) {
  executable_.FreeIdle();
  EXPECT_EQ(executable_.Memory().contexts, 0);
  const Vector x = Ramp(5, 2);
  Vector y{}, again{};
  ASSERT_TRUE(Run({x.data()}, {y.data(), again.data()}));
  ExpectNear(y, SampleResult(x));
  EXPECT_EQ(executable_.Memory().contexts, 1);
}

TEST(MakingADeviceExecutable, SaysWhatItNeedsBeforeItAllocates) {
  DeviceLog log;
  const auto made = Executable::Make(SamplePlan(log, 1000));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(made.error().message,
            fmt::format("weights {}, arena {}, workspace {}", kBytes, 2 * kBytes, kTasks * 4));
  EXPECT_EQ(log.allocated, 0);
}

TEST(MakingADeviceExecutable, StepsAreAllTheDevicesOrNone) {
  DeviceLog log;
  ExecutablePlan plan = SamplePlan(log);
  plan.device = nullptr;
  EXPECT_EQ(Executable::Make(plan).error().message,
            "step 'add': the kernel is a device's, its step is run by the host");
  plan = SamplePlan(log);
  plan.steps[1].code = nullptr;
  plan.steps[1].kernel = CenterKernel();
  EXPECT_EQ(Executable::Make(plan).error().message,
            "step 'center': the kernel is the host's, its step is run by the device");
  plan = SamplePlan(log);
  plan.preprocessing[0].code = std::make_shared<SampleCode>(ReverseKernel());
  EXPECT_THAT(Executable::Make(plan).error().message, HasSubstr("is run by the host"));
}

// Indices in the arena and in device buffers are copied to the host. Indices in whole host buffers
// are read directly.
TEST(CountingOnADevice, IndicesAreCountedWhereverTheyLie) {
  DeviceLog log;
  alignas(16) const std::array<int64_t, 4> indices = {0, 9, -1, -9};
  const Executable executable =
      Make({.device = std::make_shared<SampleDevice>(log),
            .inputs = {{"i", DataType::kI64, {4}}},
            .outputs = {{"o", DataType::kI64, {4}}},
            .steps = {MakeCopyStep("to arena", ValueRef::Input(0), ValueRef::Arena(0), 32),
                      MakeCopyStep("to output", ValueRef::Arena(0), ValueRef::Output(0), 32)},
            .index_checks = {{"input", 4, ValueRef::Input(0), DataType::kI64, 4},
                             {"arena", 4, ValueRef::Arena(8), DataType::kI64, 3},
                             {"output", 4, ValueRef::Output(0), DataType::kI64, 2}},
            .arena_bytes = 32});
  alignas(16) std::array<int64_t, 4> results{};
  const void* const from[] = {indices.data()};
  void* const to[] = {results.data()};
  ASSERT_TRUE(executable.Run(from, to));
  EXPECT_EQ(results, indices);
  const std::array there = {kThere};
  ASSERT_TRUE(executable.Run(from, to, {.inputs = there, .outputs = there}));
  std::vector<int64_t> counts;
  for (const OutsideIndices& outside : executable.Outside()) counts.push_back(outside.count);
  EXPECT_THAT(counts, ElementsAre(4, 4, 2));
}

TEST(AHostsExecutable, HasNoMemoryOfADevice) {
  const Executable executable =
      Make({.inputs = {VectorSpec("x")},
            .outputs = {VectorSpec("y")},
            .steps = {MakeCopyStep("copy", ValueRef::Input(0), ValueRef::Output(0), kBytes)}});
  const Vector x = Ramp(1, 1);
  Vector y{};
  const void* const from[] = {x.data()};
  void* const to[] = {y.data()};
  const std::array there = {kThere};
  EXPECT_EQ(executable.DeviceNumber(), std::nullopt);
  EXPECT_EQ(executable.Run(from, to, {.inputs = there}).error().message,
            "the model runs on the host: it has no memory of a device");
  EXPECT_EQ(executable.Run(from, to, {.stream = &y}).error().message,
            "the model runs on the host: it has no stream of a device");
  const std::array here = {kHere};
  EXPECT_TRUE(executable.Run(from, to, {.inputs = here, .outputs = here}));
}

TEST_F(DeviceExecutable, AStreamWhereThereAreNone) {
  const Vector x = Ramp(1, 1);
  Vector y{}, again{};
  const Status ran = Run({x.data()}, {y.data(), again.data()}, {.stream = &y});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(Run({x.data()}, {y.data(), again.data()}));
}

}  // namespace
}  // namespace tunec
