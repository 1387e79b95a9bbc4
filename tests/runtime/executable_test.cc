#include "runtime/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/in_place_outputs.h"
#include "tests/runtime/allocation_counter.h"
#include "tests/runtime/sample_kernels.h"

namespace tunec {
namespace {

using testing::HasSubstr;

// Returns a plan that computes y = center(x + c) + x through the arena.
ExecutablePlan SamplePlan(int threads) {
  const ValueRef x = ValueRef::Input(0);
  const ValueRef sum = ValueRef::Arena(0);
  const ValueRef centered = ValueRef::Arena(kBytes);
  return {.inputs = {VectorSpec("x")},
          .outputs = {VectorSpec("y")},
          .constants = {VectorConstant("c", Ramp(10, 0))},
          .steps = {{"add", AddKernel(), {x, ValueRef::Constant(0), sum}},
                    {"center", CenterKernel(), {sum, centered}},
                    {"residual", AddKernel(), {centered, x, ValueRef::Output(0)}}},
          .arena_bytes = 2 * kBytes,
          .threads = threads};
}

Vector SampleResult(const Vector& x) {
  float sum = 0;
  for (const float value : x) sum += value;
  Vector y;
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] - sum / kLength + x[i];
  return y;
}

Executable Make(ExecutablePlan plan) {
  Result<Executable> made = Executable::Make(std::move(plan));
  EXPECT_TRUE(made.has_value()) << made.error().Format();
  return std::move(*made);
}

Status RunOn(const Executable& executable, std::vector<const void*> inputs,
             std::vector<void*> outputs) {
  return executable.Run(inputs, outputs);
}

std::string RunMessage(const Executable& executable, std::vector<const void*> inputs,
                       std::vector<void*> outputs) {
  const Status status = RunOn(executable, std::move(inputs), std::move(outputs));
  return status ? "" : status.error().message;
}

TEST(Executable, RunsItsSteps) {
  for (const int threads : {1, 2, 4}) {
    const Executable executable = Make(SamplePlan(threads));
    EXPECT_EQ(executable.Threads(), threads);
    EXPECT_EQ(executable.Inputs(), std::vector{VectorSpec("x")});
    EXPECT_EQ(executable.Outputs(), std::vector{VectorSpec("y")});
    for (int round = 0; round < 100; ++round) {
      const Vector x = Ramp(static_cast<float>(round), 2);
      Vector y{};
      ASSERT_TRUE(RunOn(executable, {x.data()}, {y.data()}).has_value());
      ASSERT_EQ(y, SampleResult(x));
    }
  }
}

TEST(Executable, RunsTogetherAreRuns) {
  for (const int threads : {1, 2, 4}) {
    const Executable executable = Make(SamplePlan(threads));
    std::vector<Vector> x, y(5);
    for (int i = 0; i < 5; ++i) x.push_back(Ramp(static_cast<float>(i), 2));
    std::vector<std::array<const void*, 1>> in(5);
    std::vector<std::array<void*, 1>> out(5);
    std::vector<BatchedRun> runs;
    for (size_t i = 0; i < 5; ++i)
      runs.push_back({&executable, {in[i] = {x[i].data()}, out[i] = {y[i].data()}}});
    for (int round = 0; round < 20; ++round) {
      y.assign(5, Vector());
      ASSERT_TRUE(Executable::RunBatch(runs).has_value());
      for (size_t i = 0; i < 5; ++i) ASSERT_EQ(y[i], SampleResult(x[i]));
    }
    EXPECT_EQ(executable.Memory().contexts, 5);
  }
}

// Returns the numbers of the NoteSteps that ran, in order. Each step is one task.
std::vector<int>& StepsThatRan() {
  static std::vector<int> steps;
  return steps;
}
template <int number>
Step NoteStep() {
  const auto note = [](void* const*, void*, void*, int64_t) { StepsThatRan().push_back(number); };
  return {"note", {.phases = {{note, 1}}}, {}};
}

TEST(Executable, RunsTogetherGoStepByStep) {
  const auto pool =
      std::make_shared<ThreadPool>(1);  // several threads would record at the same time
  const auto make = [&](std::vector<Step> steps) {
    return std::move(*Executable::Make({.steps = std::move(steps)}, pool));
  };
  const Executable executable = make({NoteStep<1>(), NoteStep<2>()});
  const Executable other = make({NoteStep<3>(), NoteStep<4>()});
  ASSERT_TRUE(other.CanBatchWith(executable));
  StepsThatRan().clear();
  const BatchedRun runs[] = {{&executable, {}}, {&executable, {}}, {&other, {}}};
  ASSERT_TRUE(Executable::RunBatch(runs).has_value());
  EXPECT_EQ(StepsThatRan(), (std::vector{1, 1, 3, 2, 2, 4}));
  EXPECT_FALSE(make({NoteStep<1>()}).CanBatchWith(executable));
  EXPECT_FALSE(Make({.steps = {NoteStep<1>(), NoteStep<2>()}}).CanBatchWith(executable));
}

TEST(Executable, OfRunsTogetherNoneRunsWhereOneCannot) {
  const Executable executable = Make(SamplePlan(2));
  const Vector x = Ramp(1, 1);
  Vector y{};
  const std::array<const void*, 1> in{x.data()};
  const std::array<void*, 1> out{y.data()};
  const std::array<void*, 1> nothing{nullptr};
  const BatchedRun runs[] = {{&executable, {in, out}}, {&executable, {in, nothing}}};
  const Status status = Executable::RunBatch(runs);
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, HasSubstr("output 'y' is null"));
  EXPECT_EQ(y, Vector());
  int dummy = 0;
  const Status there = Executable::RunBatch({runs, 1}, {.stream = &dummy});
  ASSERT_FALSE(there.has_value());
  EXPECT_THAT(there.error().message, HasSubstr("the model runs on the host"));
}

TEST(Executable, BuffersNeedOnlyTheirElementsAlignment) {
  const Executable executable = Make(SamplePlan(2));
  const Vector x = Ramp(1, 1);
  std::vector<float> in(kLength + 1);
  std::vector<float> out(kLength + 3);
  std::copy(x.begin(), x.end(), in.begin() + 1);
  ASSERT_TRUE(RunOn(executable, {in.data() + 1}, {out.data() + 3}).has_value());
  EXPECT_TRUE(std::equal(out.begin() + 3, out.end(), SampleResult(x).begin()));
}

TEST(Executable, ProfileGivesSecondsOfEachStep) {
  const Executable executable = Make(SamplePlan(2));
  const Vector x = Ramp(0, 1);
  Vector y{};
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  const auto seconds = executable.ProfileRun(inputs, outputs);
  ASSERT_TRUE(seconds.has_value());
  EXPECT_EQ(executable.StepNames(), (std::vector<std::string>{"add", "center", "residual"}));
  ASSERT_EQ(seconds->size(), 3U);
  for (const double value : *seconds) EXPECT_GE(value, 0);
  EXPECT_EQ(y, SampleResult(x));
}

// The second step adds 10 to its input in place, so the result shows how often the step ran.
TEST(Executable, RepeatedProfileRunsEachStepSoOften) {
  const ValueRef sum = ValueRef::Arena(0);
  const Executable executable =
      Make({.inputs = {VectorSpec("x")},
            .outputs = {VectorSpec("y")},
            .constants = {VectorConstant("c", Ramp(10, 0))},
            .steps = {MakeCopyStep("take", ValueRef::Input(0), sum, kBytes),
                      {"add", AddKernel(), {sum, ValueRef::Constant(0), sum}},
                      MakeCopyStep("give", sum, ValueRef::Output(0), kBytes)},
            .arena_bytes = kBytes,
            .threads = 2});
  const Vector x = Ramp(1, 1);
  Vector y{};
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  const auto seconds = executable.ProfileRepeated(inputs, outputs, 3);
  ASSERT_TRUE(seconds.has_value());
  ASSERT_EQ(seconds->size(), 9U);
  for (const double value : *seconds) EXPECT_GE(value, 0);
  EXPECT_EQ(y, Ramp(31, 1));
  ASSERT_TRUE(RunOn(executable, {x.data()}, {y.data()}).has_value());
  EXPECT_EQ(y, Ramp(11, 1));
}

TEST(Executable, EveryThreadHasItsOwnScratch) {
  const Executable executable =
      Make({.outputs = {VectorSpec("ok")},
            .steps = {{"scratch", ScratchKernel(), {ValueRef::Output(0)}}},
            .threads = 4});
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        Vector ok{};
        if (!RunOn(executable, {}, {ok.data()}) || ok != Ramp(1, 0)) wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

// The outputs are a value that later steps read, a copy of the value, the reverse of the value, an
// input and a constant.
TEST(Executable, OutputsMayBeAnything) {
  const ValueRef sum = ValueRef::Output(0);
  const Executable executable =
      Make({.inputs = {VectorSpec("x")},
            .outputs = {VectorSpec("sum"), VectorSpec("again"), VectorSpec("reversed"),
                        VectorSpec("x"), VectorSpec("c")},
            .constants = {VectorConstant("c", Ramp(5, 1))},
            .steps = {{"add", AddKernel(), {ValueRef::Input(0), ValueRef::Constant(0), sum}},
                      {"reverse", ReverseKernel(), {sum, ValueRef::Output(2)}},
                      MakeCopyStep("copy sum", sum, ValueRef::Output(1), kBytes),
                      MakeCopyStep("copy x", ValueRef::Input(0), ValueRef::Output(3), kBytes),
                      MakeCopyStep("copy c", ValueRef::Constant(0), ValueRef::Output(4), kBytes)},
            .threads = 2});
  const Vector x = Ramp(1, 1);
  Vector out[5];
  ASSERT_TRUE(
      RunOn(executable, {x.data()}, {&out[0], &out[1], &out[2], &out[3], &out[4]}).has_value());
  EXPECT_EQ(out[0], Ramp(6, 2));
  EXPECT_EQ(out[1], Ramp(6, 2));
  EXPECT_EQ(out[2], Ramp(6 + 2 * (kLength - 1), -2));
  EXPECT_EQ(out[3], x);
  EXPECT_EQ(out[4], Ramp(5, 1));
}

TEST(Executable, LargeCopiesAreCompleteAndOffsetsCount) {
  constexpr int64_t kLarge = 1000003;
  const Executable executable =
      Make({.inputs = {{"x", DataType::kU8, {kLarge}}},
            .outputs = {{"y", DataType::kU8, {kLarge + 5}}},
            .steps = {MakeCopyStep("all", ValueRef::Input(0), ValueRef::Output(0, 5), kLarge),
                      MakeCopyStep("head", ValueRef::Input(0, 7), ValueRef::Output(0), 5)},
            .threads = 3});
  std::vector<uint8_t> x(kLarge);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 31 >> 3);
  std::vector<uint8_t> y(kLarge + 5);
  ASSERT_TRUE(RunOn(executable, {x.data()}, {y.data()}).has_value());
  EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin() + 5));
  EXPECT_TRUE(std::equal(y.begin(), y.begin() + 5, x.begin() + 7));
}

TEST(Executable, InputsMayOverlapOutputs) {
  // Output y is written before the last read of x.
  const Executable executable = Make(
      {.inputs = {VectorSpec("x")},
       .outputs = {VectorSpec("y"), VectorSpec("z")},
       .steps = {
           {"reverse", ReverseKernel(), {ValueRef::Input(0), ValueRef::Output(0)}},
           {"add", AddKernel(), {ValueRef::Input(0), ValueRef::Input(0), ValueRef::Output(1)}}}});
  std::vector<float> memory(3 * kLength);
  for (const int64_t shift : {int64_t{0}, int64_t{1}, kLength - 1, kLength}) {
    const Vector x = Ramp(0, 1);
    float* const in = memory.data() + shift;
    std::copy(x.begin(), x.end(), in);
    ASSERT_TRUE(RunOn(executable, {in}, {memory.data(), memory.data() + 2 * kLength}).has_value());
    EXPECT_EQ(memory[0], kLength - 1);
    EXPECT_EQ(memory[kLength - 1], 0);
    EXPECT_EQ(memory[3 * kLength - 1], 2 * (kLength - 1));
  }
}

// An output may overwrite an input of equal size if the first step that names the output reads the
// input in place or not at all. Neither a later step nor an index check may read the input.
TEST(Executable, AnInputThatIsAnOutputIsNotCopiedWhereItMayBe) {
  const ValueRef x = ValueRef::Input(0);
  const ValueRef y = ValueRef::Output(0);
  const Step add = {.name = "add",
                    .kernel = AddKernel(),
                    .arguments = {x, ValueRef::Constant(0), y},
                    .in_place = {{0, 2}}};
  const auto plan = [&](std::vector<Step> steps, std::vector<IndexCheck> checks = {}) {
    return ExecutablePlan{.inputs = {VectorSpec("x")},
                          .outputs = {VectorSpec("y"), VectorSpec("z")},
                          .constants = {VectorConstant("c", Ramp(10, 0))},
                          .steps = std::move(steps),
                          .index_checks = std::move(checks)};
  };
  const auto allows = [](const ExecutablePlan& of) { return InPlaceOutputs(of).Allows(0, 0); };
  const Step before = {"reverse", ReverseKernel(), {x, ValueRef::Output(1)}};
  EXPECT_TRUE(allows(plan({add})));
  EXPECT_TRUE(allows(plan({before, add})));
  EXPECT_FALSE(allows(plan({add, before}))) << "read after it was written";
  EXPECT_FALSE(InPlaceOutputs(plan({before, add})).Allows(0, 1))
      << "a kernel that reads it elsewhere";
  Step elsewhere = add;
  elsewhere.in_place = {};
  EXPECT_FALSE(allows(plan({elsewhere})));
  Step twice = add;
  twice.arguments[1] = x;
  EXPECT_FALSE(allows(plan({twice}))) << "one of two reads is in place";
  twice.in_place = {{0, 2}, {1, 2}};
  EXPECT_TRUE(allows(plan({twice})));
  EXPECT_FALSE(allows(plan({add}, {{.node = "g", .extent = 1, .indices = x, .count = 1}})))
      << "counted at the end of the run";

  const Executable executable = Make(plan({before, add}));
  Vector memory = Ramp(0, 1);
  Vector z{};
  for (int run = 1; run <= 3; ++run) {
    ASSERT_TRUE(RunOn(executable, {memory.data()}, {memory.data(), z.data()}).has_value());
    EXPECT_EQ(memory, Ramp(static_cast<float>(10 * run), 1));
    EXPECT_EQ(z[kLength - 1], 10 * (run - 1));
  }
}

TEST(Executable, PlansNameArgumentsThatTheyHave) {
  ExecutablePlan plan = SamplePlan(1);
  plan.steps[0].in_place = {{0, 3}};
  const Result<Executable> made = Executable::Make(std::move(plan));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("arguments 0 and 3 of 3 are one storage"));
}

TEST(Executable, RejectsWrongBuffers) {
  const Executable executable = Make(
      {.inputs = {VectorSpec("x")}, .outputs = {VectorSpec("y"), VectorSpec("z")}, .steps = {}});
  Vector x{};
  Vector y{};
  Vector z{};
  EXPECT_EQ(RunMessage(executable, {}, {&y, &z}), "0 inputs and 2 outputs given, expected 1 and 2");
  EXPECT_EQ(RunMessage(executable, {&x}, {&y}), "1 inputs and 1 outputs given, expected 1 and 2");
  EXPECT_EQ(RunMessage(executable, {nullptr}, {&y, &z}), "input 'x' is null, expected 1280 bytes");
  EXPECT_EQ(RunMessage(executable, {&x}, {&y, nullptr}), "output 'z' is null, expected 1280 bytes");
  EXPECT_EQ(RunMessage(executable, {&x}, {&y, y.data() + 1}), "outputs 'y' and 'z' overlap");
  EXPECT_THAT(RunMessage(executable, {reinterpret_cast<char*>(&x) + 2}, {&y, &z}),
              HasSubstr("not aligned to its 4 bytes"));
  EXPECT_EQ(RunMessage(executable, {&x}, {&y, &z}), "");
}

TEST(Executable, WavesRunOneAfterTheOther) {
  for (const int threads : {1, 2, 4}) {
    const Executable executable = Make({.outputs = {VectorSpec("y")},
                                        .steps = {{"waves", WaveKernel(), {ValueRef::Output(0)}}},
                                        .threads = threads});
    Vector y{};
    ASSERT_EQ(RunMessage(executable, {}, {&y}), "");
    for (int64_t i = 0; i < kLength; ++i) {
      const int64_t wave = i / kTasks;
      ASSERT_EQ(y[i], static_cast<float>(wave + 1)) << "element " << i;
    }
  }
}

TEST(Executable, TensorsOfNoBytesMayBeNull) {
  const TensorSpec empty{"e", DataType::kF32, {0, 5}};
  const Executable executable =
      Make({.inputs = {empty},
            .outputs = {empty},
            .steps = {MakeCopyStep("nothing", ValueRef::Input(0), ValueRef::Output(0), 0),
                      {"empty", {.phases = {{AddTask, 0}}}, {}}}});
  EXPECT_EQ(RunMessage(executable, {nullptr}, {nullptr}), "");
}

TEST(Executable, ServesSeveralThreads) {
  const Executable executable = Make(SamplePlan(2));
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 300; ++round) {
        const Vector x = Ramp(static_cast<float>(caller), static_cast<float>(round % 7));
        Vector y{};
        if (!RunOn(executable, {x.data()}, {y.data()}) || y != SampleResult(x)) wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_LE(executable.Memory().contexts, 4);
}

TEST(Executable, SharesAPool) {
  const auto pool = std::make_shared<ThreadPool>(3);
  const Vector x = Ramp(0, 1);
  Vector y{};
  for (int i = 0; i < 2; ++i) {
    Result<Executable> executable = Executable::Make(SamplePlan(1), pool);
    ASSERT_TRUE(executable.has_value());
    EXPECT_EQ(executable->Threads(), 3);
    ASSERT_TRUE(RunOn(*executable, {x.data()}, {y.data()}).has_value());
    EXPECT_EQ(y, SampleResult(x));
  }
  EXPECT_EQ(pool.use_count(), 1);
}

TEST(Executable, RunAllocatesNothing) {
  if (!CanCountAllocations()) GTEST_SKIP() << "not under a sanitizer";
  const Executable executable = Make(SamplePlan(2));
  const Vector x = Ramp(0, 1);
  Vector y{};
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  void* const in_place[] = {const_cast<float*>(x.data())};
  ASSERT_TRUE(
      executable.Run(inputs, in_place).has_value());  // allocates memory for the input's copy
  const int64_t before = AllocationCount();
  bool good = true;
  for (int round = 0; round < 100; ++round) {
    good = good && executable.Run(inputs, outputs).has_value();
    good = good && executable.Run(inputs, in_place).has_value();
  }
  EXPECT_EQ(AllocationCount() - before, 0);
  EXPECT_TRUE(good);
}

TEST(Executable, ConcurrentRunsAllocateNothingOnceWarm) {
  if (!CanCountAllocations()) GTEST_SKIP() << "not under a sanitizer";
  constexpr int kCallers = 4;
  const Executable executable = Make(SamplePlan(2));
  std::atomic<int> ready = 0;
  std::atomic<bool> go = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&] {
      const Vector x = Ramp(0, 1);
      Vector y{};
      const void* const inputs[] = {x.data()};
      void* const outputs[] = {y.data()};
      const auto run = [&](int rounds) {
        for (int round = 0; round < rounds; ++round)
          if (!executable.Run(inputs, outputs)) failed.fetch_add(1);
      };
      run(1);
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      run(200);
    });
  while (ready.load() < kCallers) std::this_thread::yield();
  const int64_t contexts = executable.Memory().contexts;
  const int64_t before = AllocationCount();
  go.store(true);
  for (std::thread& caller : callers) caller.join();
  const int64_t made = executable.Memory().contexts - contexts;
  // If more callers run at once than in the first round, new contexts are made. Without new
  // contexts nothing may be allocated.
  const int64_t allocations = AllocationCount() - before;
  EXPECT_LE(executable.Memory().contexts, kCallers);
  if (made == 0) {
    EXPECT_EQ(allocations, 0);
  }
  EXPECT_EQ(failed.load(), 0);
}

TEST(Executable, KeepsCodeAndConstantsWhileItLives) {
  const auto code = std::make_shared<int>();
  ExecutablePlan plan = SamplePlan(1);
  const std::weak_ptr<const void> constant = plan.constants[0].data;
  plan.steps[0].kernel.code = code;
  {
    Executable executable = Make(std::move(plan));
    EXPECT_EQ(code.use_count(), 2);
    const Executable moved = std::move(executable);
    EXPECT_EQ(code.use_count(), 2);
    EXPECT_FALSE(constant.expired());
    EXPECT_EQ(moved.Memory().constants, kBytes);
  }
  EXPECT_EQ(code.use_count(), 1);
  EXPECT_TRUE(constant.expired());
}

}  // namespace
}  // namespace tunec
