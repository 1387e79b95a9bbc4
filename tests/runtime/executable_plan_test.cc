// Tests that bad plans are rejected, and tests of weight preprocessing.
#include "runtime/executable_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/runtime/sample_kernels.h"

namespace tunec {
namespace {

using testing::HasSubstr;

ExecutablePlan GoodPlan() {
  return {
      .inputs = {VectorSpec("x")},
      .outputs = {VectorSpec("y")},
      .constants = {VectorConstant("c", Ramp(0, 1)), {.name = "packed", .bytes = kBytes}},
      .preprocessing = {{"pack", ReverseKernel(), {ValueRef::Constant(0), ValueRef::Constant(1)}}},
      .steps = {{"add",
                 AddKernel(),
                 {ValueRef::Input(0), ValueRef::Constant(1), ValueRef::Arena(0)}},
                MakeCopyStep("copy", ValueRef::Arena(0), ValueRef::Output(0), kBytes)},
      .arena_bytes = kBytes};
}

TEST(ExecutablePlan, AGoodOnePasses) { EXPECT_TRUE(Verify(GoodPlan()).has_value()); }

TEST(ExecutablePlan, BadOnesAreRejectedByName) {
  const struct {
    std::function<void(ExecutablePlan&)> spoil;
    const char* message;
  } cases[] = {
      {[](auto& p) { p.inputs[0].shape = {-1}; },
       "tensor 'x' has a dimension of -1, expected >= 0"},
      {[](auto& p) {
         p.outputs[0].shape = {1L << 40, 1L << 40};
       },
       "'y'"},
      {[](auto& p) {
         p.index_checks = {{"g", 3, ValueRef::Input(0), DataType::kI64, kLength}};
       },
       "input 0 has 1280 bytes, expected 2560 at offset 0"},
      {[](auto& p) {
         p.index_checks = {{"g", 3, ValueRef::Input(0), DataType::kF32, 1}};
       },
       "1 indices of f32 in a input are checked against 3"},
      {[](auto& p) {
         p.index_checks = {{"g", 3, ValueRef::Constant(0), DataType::kI64, 1}};
       },
       "indices of i64 in a constant"},
      {[](auto& p) { p.constants[0].bytes = -1; }, "constant 'c' has -1 bytes"},
      {[](auto& p) { p.constants[0].alignment = 48; }, "alignment 48"},
      {[](auto& p) { p.constants[0].alignment = 128; }, "alignment 128"},
      {[](auto& p) { p.arena_bytes = -1; }, "arena of -1 bytes"},
      {[](auto& p) { p.threads = 0; }, "0 threads"},
      {[](auto& p) { p.steps[0].arguments[0].index = 1; },
       "step 'add': there is no input 1, only 1"},
      {[](auto& p) { p.steps[0].arguments[0].index = -1; }, "there is no input -1"},
      {[](auto& p) { p.steps[1].arguments[1].index = 1; }, "step 'copy': there is no output 1"},
      {[](auto& p) { p.steps[0].arguments[1].index = 2; }, "there is no constant 2"},
      {[](auto& p) { p.steps[0].arguments[2].index = 1; }, "there is no arena 1"},
      {[](auto& p) { p.steps[0].arguments[2].offset = kBytes + 1; }, "expected 0 at offset 1281"},
      {[](auto& p) { p.steps[0].arguments[2].offset = -4; }, "at offset -4"},
      {[](auto& p) { p.steps[1].arguments[0].offset = 4; }, "has 1280 bytes, expected 1280 at"},
      {[](auto& p) { p.steps[1].arguments.pop_back(); }, "a copy of 1280 bytes has 1 arguments"},
      {[](auto& p) { p.steps[1].copy_bytes = -1; }, "a copy of -1 bytes"},
      {[](auto& p) { p.steps[1].kernel = AddKernel(); }, "1 phases"},
      {[](auto& p) { p.steps[1].arguments[1] = ValueRef::Input(0); }, "a copy writes input 0"},
      {[](auto& p) { p.steps[1].arguments[1] = ValueRef::Constant(0); }, "writes constant 0"},
      {[](auto& p) { p.steps[1].arguments[1] = ValueRef::Arena(0); }, "a copy onto itself"},
      {[](auto& p) { p.steps[0].kernel.phases[0].function = nullptr; }, "8 tasks and no function"},
      {[](auto& p) { p.steps[0].kernel.phases[0].tasks = -8; }, "-8 tasks"},
      {[](auto& p) { p.steps[0].kernel.phases[0].waves = 0; }, "8 tasks in 0 waves"},
      {[](auto& p) { p.steps[0].kernel.phases[0].waves = 3; }, "8 tasks in 3 waves"},
      {[](auto& p) { p.steps[0].kernel.scratch_bytes = -8; },
       "has -8 bytes of workspace or scratch"},
      {[](auto& p) { p.preprocessing[0].arguments[0] = ValueRef::Input(0); },
       "step 'pack': the weight preprocessing names input 0"},
      {[](auto& p) { p.preprocessing.clear(); }, "step 'add': nothing writes constant 'packed'"},
  };
  for (const auto& [spoil, message] : cases) {
    ExecutablePlan plan = GoodPlan();
    spoil(plan);
    const Result<Executable> executable = Executable::Make(plan);
    ASSERT_FALSE(executable.has_value()) << message;
    EXPECT_EQ(executable.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(executable.error().message, HasSubstr(message));
  }
}

TEST(ExecutablePlan, TooMuchMemoryIsAnError) {
  ExecutablePlan plan = GoodPlan();
  plan.arena_bytes = 1L << 60;
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_FALSE(executable.has_value());
  EXPECT_EQ(executable.error().code, ErrorCode::kResourceLimit);
}

Vector RunOnce(const Executable& executable, const Vector& x) {
  Vector y{};
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  EXPECT_TRUE(executable.Run(inputs, outputs).has_value());
  return y;
}

TEST(ExecutablePlan, ARejectedOneIsMadeAndRunsNothing) {
  ExecutablePlan plan = GoodPlan();
  plan.rejection = MakeError(ErrorCode::kDevice, "no such machine");
  plan.preprocessing[0].kernel.phases[0].function = [](void* const*, void*, void*, int64_t) {
    ADD_FAILURE() << "the weight preprocessing ran";
  };
  plan.steps[0].kernel.phases[0].function = nullptr;  // not loaded
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_TRUE(executable.has_value()) << executable.error().message;
  EXPECT_EQ(executable->StepNames().size(), 2);
  Vector x{}, y{};
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  const Status ran = executable->Run(inputs, outputs);
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().code, ErrorCode::kDevice);
  EXPECT_EQ(executable->ProfileRun(inputs, outputs).error().message, "no such machine");
}

TEST(WeightPreprocessing, RunsOnceAndDropsWhatItPacked) {
  ExecutablePlan plan = GoodPlan();
  const auto code = std::make_shared<int>();
  plan.preprocessing[0].kernel.code = code;
  const std::weak_ptr<const void> original = plan.constants[0].data;
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_TRUE(executable.has_value()) << executable.error().Format();
  EXPECT_TRUE(original.expired());
  EXPECT_EQ(code.use_count(), 1);
  EXPECT_EQ(executable->Memory().constants, kBytes);
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(RunOnce(*executable, Ramp(0, 1)), Ramp(kLength - 1, 0));
}

// Packed constants are stored in the order of first use in a run, not in the order of packing.
TEST(WeightPreprocessing, PacksIntoOneBlockInTheOrderOfUse) {
  const auto note_address = [](void* const* args, void*, void*, int64_t) {
    std::memcpy(args[1], &args[0], sizeof(args[0]));
  };
  const Kernel note{.phases = {{note_address, 1}}};
  ExecutablePlan plan{
      .outputs = {VectorSpec("first"), VectorSpec("second")},
      .constants = {VectorConstant("c", Ramp(0, 1)),
                    {.name = "later", .bytes = kBytes},
                    {.name = "sooner", .bytes = kBytes - 4}},
      .preprocessing = {{"pack", ReverseKernel(), {ValueRef::Constant(0), ValueRef::Constant(1)}},
                        {"pack", note, {ValueRef::Constant(0), ValueRef::Constant(2)}}},
      .steps = {{"a", note, {ValueRef::Constant(2), ValueRef::Output(0)}},
                {"b", note, {ValueRef::Constant(1), ValueRef::Output(1)}},
                {"a", note, {ValueRef::Constant(2), ValueRef::Output(0)}}}};
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_TRUE(executable.has_value()) << executable.error().Format();
  Vector first, second;
  void* const outputs[] = {first.data(), second.data()};
  ASSERT_TRUE(executable->Run({}, outputs));
  std::byte* sooner = nullptr;
  std::byte* later = nullptr;
  std::memcpy(&sooner, first.data(), sizeof(sooner));
  std::memcpy(&later, second.data(), sizeof(later));
  EXPECT_EQ(later - sooner, kBytes);  // includes alignment
  EXPECT_EQ(reinterpret_cast<uintptr_t>(sooner) % 64, 0u);
  EXPECT_EQ(Floats(later)[0], static_cast<float>(kLength - 1));
}

// A bundle may contain constants whose sizes add up to more than 64 bits. The overflowed sum must
// not appear small.
TEST(WeightPreprocessing, ConstantsWhoseSumOverflowsAreRejected) {
  ExecutablePlan plan = GoodPlan();
  for (int i = 0; i < 256; ++i) {
    const auto number = static_cast<int32_t>(plan.constants.size());
    plan.constants.push_back({.name = "huge", .bytes = int64_t{1} << 56});
    plan.preprocessing[0].arguments.push_back(ValueRef::Constant(number));
    plan.steps[0].arguments.push_back(ValueRef::Constant(number));
  }
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_FALSE(executable.has_value());
  EXPECT_EQ(executable.error().code, ErrorCode::kResourceLimit);
}

TEST(WeightPreprocessing, KeepsAConstantThatStepsUseToo) {
  ExecutablePlan plan = GoodPlan();
  plan.steps.push_back(
      {"add", AddKernel(), {ValueRef::Arena(0), ValueRef::Constant(0), ValueRef::Output(0)}});
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_TRUE(executable.has_value());
  EXPECT_EQ(executable->Memory().constants, 2 * kBytes);
  EXPECT_EQ(RunOnce(*executable, Ramp(0, 1)), Ramp(kLength - 1, 1));
}

// c is packed. The packed constant is doubled into a temporary, which is copied. Only the packed
// constant and the copy are retained.
TEST(WeightPreprocessing, StepsMayFollowEachOther) {
  ExecutablePlan plan = GoodPlan();
  plan.constants.push_back({.name = "temporary", .bytes = kBytes});
  plan.constants.push_back({.name = "copy", .bytes = kBytes});
  plan.preprocessing.push_back(
      {"double",
       AddKernel(),
       {ValueRef::Constant(1), ValueRef::Constant(1), ValueRef::Constant(2)}});
  plan.preprocessing.push_back(
      MakeCopyStep("copy", ValueRef::Constant(2), ValueRef::Constant(3), kBytes));
  plan.steps[0].arguments[0] = ValueRef::Constant(3);
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_TRUE(executable.has_value()) << executable.error().Format();
  EXPECT_EQ(executable->Memory().constants, 2 * kBytes);
  EXPECT_EQ(RunOnce(*executable, Ramp(0, 0)), Ramp(3 * (kLength - 1), -3));
}

// Reverses like ReverseTask, but returns only after another thread has also called it, or after ten
// seconds.
void MeetTask(void* const* args, void* workspace, void* scratch, int64_t task) {
  static std::atomic<int> threads = 0;
  thread_local const int number = ++threads;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (threads < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_GE(threads, 2) << "thread " << number << " is alone";
  ReverseTask(args, workspace, scratch, task);
}

// All packing steps read one constant, which is not aligned. Each packed constant is then doubled.
TEST(WeightPreprocessing, IndependentStepsRunOnAllThreads) {
  constexpr int kWeights = 40;
  std::vector<float> memory(kLength + 1);
  const Vector source = Ramp(0, 1);
  std::memcpy(&memory[1], source.data(), kBytes);
  ExecutablePlan plan{
      .outputs = {VectorSpec("y")},
      .constants = {{.name = "source",
                     .bytes = kBytes,
                     .data = std::shared_ptr<const void>(std::shared_ptr<void>(), &memory[1]),
                     .alignment = 64}},
      .arena_bytes = 2 * kBytes};
  for (int i = 0; i < kWeights; ++i) {
    const ValueRef packed = ValueRef::Constant(2 * i + 1), doubled = ValueRef::Constant(2 * i + 2);
    plan.constants.push_back({.name = "packed", .bytes = kBytes});
    plan.constants.push_back({.name = "doubled", .bytes = kBytes});
    plan.preprocessing.push_back(
        {"pack", {.phases = {{MeetTask, 1}}}, {ValueRef::Constant(0), packed}});
    plan.preprocessing.push_back({"double", AddKernel(), {packed, packed, doubled}});
    const ValueRef sum = i == 0 ? doubled : ValueRef::Arena((i - 1) % 2 * kBytes);
    const ValueRef next = i + 1 == kWeights ? ValueRef::Output(0) : ValueRef::Arena(i % 2 * kBytes);
    plan.steps.push_back({"add", AddKernel(), {sum, doubled, next}});
  }
  const Result<Executable> executable =
      Executable::Make(std::move(plan), std::make_shared<ThreadPool>(4));
  ASSERT_TRUE(executable.has_value()) << executable.error().Format();
  EXPECT_EQ(executable->Memory().constants, kWeights * kBytes);
  Vector y{};
  void* const outputs[] = {y.data()};
  ASSERT_TRUE(executable->Run({}, outputs));
  for (int64_t i = 0; i < kLength; ++i)
    EXPECT_EQ(y[i], 2 * (kWeights + 1) * source[kLength - 1 - i]) << i;
}

TEST(WeightPreprocessing, UnusedConstantsAreDropped) {
  ExecutablePlan plan = GoodPlan();
  plan.constants.push_back(VectorConstant("unused", Ramp(0, 0)));
  const std::weak_ptr<const void> unused = plan.constants[2].data;
  const Result<Executable> executable = Executable::Make(std::move(plan));
  ASSERT_TRUE(executable.has_value());
  EXPECT_TRUE(unused.expired());
}

// Stores the address of the constant args[0] modulo 64 in each element of the output args[1].
void AlignmentTask(void* const* args, void*, void*, int64_t) {
  for (int64_t i = 0; i < kLength; ++i)
    Floats(args[1])[i] = static_cast<float>(reinterpret_cast<uintptr_t>(args[0]) % 64);
}

TEST(Constants, AreAlignedAsTheySay) {
  const auto owner = std::make_shared<std::vector<float>>(2 * kLength);
  float* unaligned = owner->data();
  while (reinterpret_cast<uintptr_t>(unaligned) % 64 != 4) ++unaligned;
  for (const int64_t alignment : {4, 64}) {
    const std::shared_ptr<const void> data(owner, unaligned);
    const Result<Executable> executable = Executable::Make(
        {.inputs = {VectorSpec("x")},
         .outputs = {VectorSpec("y")},
         .constants = {{.name = "c", .bytes = kBytes, .data = data, .alignment = alignment}},
         .steps = {{"alignment",
                    {.phases = {{AlignmentTask, 1}}},
                    {ValueRef::Constant(0), ValueRef::Output(0)}}}});
    ASSERT_TRUE(executable.has_value());
    EXPECT_EQ(RunOnce(*executable, {})[0], alignment == 64 ? 0 : 4);
  }
}

}  // namespace
}  // namespace tunec
