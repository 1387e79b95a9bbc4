// Tests of constants that several plans share. The tests check which constants are computed, which
// are reused, and when memory is released.
#include "runtime/shared_constants.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "runtime/preprocess_weights.h"
#include "tests/runtime/sample_kernels.h"

namespace tunec {
namespace {

constexpr int64_t kLarge = int64_t{3} << 20;  // bytes, more than a huge page

std::atomic<int> made = 0;

/// Copies kLarge bytes from x to out, and increments `made`. Arguments: x, out.
void CopyTask(void* const* args, void*, void*, int64_t) {
  made.fetch_add(1);
  std::memcpy(args[1], args[0], kLarge);
}
/// Copies kLarge bytes from x to a. Writes these bytes with all bits inverted to b. Increments
/// `made`. Arguments: x, a, b.
void PairTask(void* const* args, void*, void*, int64_t) {
  made.fetch_add(1);
  std::memcpy(args[1], args[0], kLarge);
  const auto* x = static_cast<const uint8_t*>(args[0]);
  auto* b = static_cast<uint8_t*>(args[2]);
  for (int64_t i = 0; i < kLarge; ++i) b[i] = static_cast<uint8_t>(~x[i]);
}
Kernel CopyKernel() { return {.phases = {{CopyTask, 1}}}; }
Kernel PairKernel() { return {.phases = {{PairTask, 1}}}; }

Constant Filled(std::string name, uint8_t value, int64_t alignment = 4) {
  auto owner = std::make_shared<std::vector<uint8_t>>(kLarge, value);
  const void* const data = owner->data();
  return {.name = std::move(name),
          .bytes = kLarge,
          .data = std::shared_ptr<const void>(owner, data),
          .alignment = alignment};
}
Constant Empty(std::string name) { return {.name = std::move(name), .bytes = kLarge}; }

Step PreprocessingStep(std::string identity, std::vector<ValueRef> arguments,
                       Kernel kernel = CopyKernel()) {
  return {.name = "pack",
          .kernel = std::move(kernel),
          .arguments = std::move(arguments),
          .identity = std::move(identity)};
}

/// Returns a step that names these constants and does nothing.
Step Uses(std::vector<int32_t> constants) {
  Step step{.name = "use"};
  for (const int32_t constant : constants) step.arguments.push_back(ValueRef::Constant(constant));
  return step;
}

constexpr ValueRef C(int32_t index) { return {ValueRef::Kind::kConstant, index, 0}; }

/// Returns a plan that computes the constant w.packed from w. The plan's run step names w.packed.
ExecutablePlan PackPlan(const std::shared_ptr<SharedConstants>& shared, uint8_t weight,
                        std::string identity = "copy") {
  return {.constants = {Filled("w", weight), Empty("w.packed")},
          .preprocessing = {PreprocessingStep(std::move(identity), {C(0), C(1)})},
          .steps = {Uses({1})},
          .shared = shared};
}

/// Returns a plan that computes the constant `first` from w, and `second` from `first`. The plan's
/// run step names the constants with the numbers `used`.
ExecutablePlan ChainPlan(const std::shared_ptr<SharedConstants>& shared,
                         std::vector<int32_t> used) {
  return {.constants = {Filled("w", 7), Empty("first"), Empty("second")},
          .preprocessing = {PreprocessingStep("one", {C(0), C(1)}),
                            PreprocessingStep("two", {C(1), C(2)})},
          .steps = {Uses(std::move(used))},
          .shared = shared};
}

/// Returns a plan that computes a copy and the complement of w in one step. The plan's run step
/// names the constants with the numbers `used`.
ExecutablePlan PairPlan(const std::shared_ptr<SharedConstants>& shared, std::vector<int32_t> used) {
  return {.constants = {Filled("w", 0x0f), Empty("a"), Empty("b")},
          .preprocessing = {PreprocessingStep("pair", {C(0), C(1), C(2)}, PairKernel())},
          .steps = {Uses(std::move(used))},
          .shared = shared};
}

uint8_t LastByte(const Constant& constant) {
  return static_cast<const uint8_t*>(constant.data.get())[kLarge - 1];
}

class SharedConstantsTest : public ::testing::Test {
 protected:
  void SetUp() override { made = 0; }
  ExecutablePlan Ready(ExecutablePlan plan) {
    EXPECT_TRUE(Verify(plan).has_value());
    const Status ran = PreprocessWeights(plan, pool_);
    EXPECT_TRUE(ran.has_value()) << ran.error().Format();
    return plan;
  }

  ThreadPool pool_{2};
  const std::shared_ptr<SharedConstants> shared_ = std::make_shared<SharedConstants>();
};

TEST_F(SharedConstantsTest, WhatOneMadeTheOtherFinds) {
  const ExecutablePlan one = Ready(PackPlan(shared_, 5));
  const ExecutablePlan other = Ready(PackPlan(shared_, 5));
  EXPECT_EQ(one.constants[1].data, other.constants[1].data);
  EXPECT_EQ(made.load(), 1);
  EXPECT_EQ(LastByte(other.constants[1]), 5);
  EXPECT_EQ(shared_->Bytes(), kLarge);
  EXPECT_EQ(one.constants[0].data, nullptr);
  EXPECT_EQ(other.constants[0].data, nullptr) << "what is packed is not kept";
}

TEST_F(SharedConstantsTest, WithoutAStoreEachHasItsOwn) {
  const ExecutablePlan one = Ready(PackPlan(nullptr, 5));
  const ExecutablePlan other = Ready(PackPlan(nullptr, 5));
  EXPECT_NE(one.constants[1].data, other.constants[1].data);
  EXPECT_EQ(made.load(), 2);
}

TEST_F(SharedConstantsTest, OtherWeightsOrKernelsAreOthers) {
  const ExecutablePlan one = Ready(PackPlan(shared_, 5));
  const ExecutablePlan weight = Ready(PackPlan(shared_, 6));
  const ExecutablePlan kernel = Ready(PackPlan(shared_, 5, "another copy"));
  EXPECT_NE(one.constants[1].data, weight.constants[1].data);
  EXPECT_NE(one.constants[1].data, kernel.constants[1].data);
  EXPECT_EQ(LastByte(weight.constants[1]), 6);
  EXPECT_EQ(made.load(), 3);
}

TEST_F(SharedConstantsTest, OneByteOfTheWeightMakesItAnother) {
  ExecutablePlan plan = PackPlan(shared_, 5);
  auto changed = std::make_shared<std::vector<uint8_t>>(kLarge, 5);
  changed->back() = 4;
  plan.constants[0].data = std::shared_ptr<const void>(changed, changed->data());
  const ExecutablePlan one = Ready(PackPlan(shared_, 5));
  const ExecutablePlan other = Ready(std::move(plan));
  EXPECT_NE(one.constants[1].data, other.constants[1].data);
  EXPECT_EQ(LastByte(other.constants[1]), 4);
}

TEST_F(SharedConstantsTest, AStepWithoutIdentityIsRunByEach) {
  const ExecutablePlan one = Ready(PackPlan(shared_, 5, ""));
  const ExecutablePlan other = Ready(PackPlan(shared_, 5, ""));
  EXPECT_NE(one.constants[1].data, other.constants[1].data);
  EXPECT_EQ(made.load(), 2);
  EXPECT_EQ(shared_->Bytes(), 0);
}

// A step without identity has unknown effects. It may have written into the first step's result, so
// no result is shared.
TEST_F(SharedConstantsTest, WhatAStepWithoutIdentityNamesIsNotShared) {
  ExecutablePlan plan = ChainPlan(shared_, {1, 2});
  plan.preprocessing[1].identity.clear();
  const ExecutablePlan one = Ready(plan);
  const ExecutablePlan other = Ready(plan);
  EXPECT_NE(one.constants[1].data, other.constants[1].data);
  EXPECT_NE(one.constants[2].data, other.constants[2].data);
  EXPECT_EQ(made.load(), 4);
}

TEST_F(SharedConstantsTest, GoWithTheLastWhoHasThem) {
  std::optional<ExecutablePlan> one = Ready(PackPlan(shared_, 5));
  std::optional<ExecutablePlan> other = Ready(PackPlan(shared_, 5));
  one.reset();
  EXPECT_EQ(shared_->Bytes(), kLarge);
  EXPECT_EQ(LastByte(other->constants[1]), 5);
  other.reset();
  EXPECT_EQ(shared_->Bytes(), 0);
  const ExecutablePlan again = Ready(PackPlan(shared_, 5));
  EXPECT_EQ(made.load(), 2);
  EXPECT_EQ(LastByte(again.constants[1]), 5);
}

// Both packed constants are in one block, which w.packed retains. Released pages read as zeros.
TEST_F(SharedConstantsTest, PagesGoBeforeTheirBlock) {
  ExecutablePlan both{
      .constants = {Filled("v", 3), Empty("v.packed"), Filled("w", 5), Empty("w.packed")},
      .preprocessing = {PreprocessingStep("copy", {C(0), C(1)}),
                        PreprocessingStep("copy", {C(2), C(3)})},
      .steps = {Uses({1, 3})},
      .shared = shared_};
  std::optional<ExecutablePlan> first = Ready(std::move(both));
  const ExecutablePlan second = Ready(PackPlan(shared_, 5));
  EXPECT_EQ(made.load(), 2);
  const auto* const first_data = static_cast<const uint8_t*>(first->constants[1].data.get());
  ASSERT_EQ(second.constants[1].data, first->constants[3].data);
  ASSERT_EQ(first_data + kLarge, second.constants[1].data.get()) << "one block";
  EXPECT_EQ(first_data[kLarge / 2], 3);
  first.reset();
  EXPECT_EQ(shared_->Bytes(), kLarge);
  EXPECT_EQ(first_data[kLarge / 2], 0);
  EXPECT_EQ(LastByte(second.constants[1]), 5);
}

TEST_F(SharedConstantsTest, ChainsAreFoundByTheirBeginning) {
  const ExecutablePlan one = Ready(ChainPlan(shared_, {2}));
  EXPECT_EQ(made.load(), 2);
  EXPECT_EQ(one.constants[1].data, nullptr);
  const ExecutablePlan end = Ready(ChainPlan(shared_, {2}));
  EXPECT_EQ(made.load(), 2);
  EXPECT_EQ(one.constants[2].data, end.constants[2].data);
  // No plan holds the middle constant any more.
  const ExecutablePlan both = Ready(ChainPlan(shared_, {1, 2}));
  EXPECT_EQ(made.load(), 3);
  EXPECT_EQ(one.constants[2].data, both.constants[2].data);
  EXPECT_EQ(LastByte(both.constants[1]), 7);
}

TEST_F(SharedConstantsTest, AChainGoesOnFromWhatIsFound) {
  const ExecutablePlan middle = Ready(ChainPlan(shared_, {1}));
  EXPECT_EQ(made.load(), 1);
  const ExecutablePlan end = Ready(ChainPlan(shared_, {2}));
  EXPECT_EQ(made.load(), 2);
  EXPECT_EQ(LastByte(end.constants[2]), 7);
}

// A step that runs again because one result is missing writes all its results. It writes into new
// memory, because plans read the old results.
TEST_F(SharedConstantsTest, AStepThatRunsAgainWritesNothingOfOthers) {
  const ExecutablePlan one = Ready(PairPlan(shared_, {1}));
  const ExecutablePlan both = Ready(PairPlan(shared_, {1, 2}));
  EXPECT_EQ(made.load(), 2);
  EXPECT_NE(one.constants[1].data, both.constants[1].data);
  EXPECT_EQ(LastByte(both.constants[1]), 0x0f);
  EXPECT_EQ(LastByte(both.constants[2]), 0xf0);
  const ExecutablePlan third = Ready(PairPlan(shared_, {1, 2}));
  EXPECT_EQ(made.load(), 2);
  EXPECT_EQ(third.constants[2].data, both.constants[2].data);
}

// Constant folding makes separate arrays for each compiled model. Their contents may be equal.
TEST_F(SharedConstantsTest, EqualDataIsKeptOnce) {
  const auto plan = [&](uint8_t value, int64_t alignment) {
    return ExecutablePlan{
        .constants = {Filled("w", value, alignment)}, .steps = {Uses({0})}, .shared = shared_};
  };
  const ExecutablePlan one = Ready(plan(1, 64));
  const ExecutablePlan other = Ready(plan(1, 64));
  const ExecutablePlan loose = Ready(plan(1, 4));
  const ExecutablePlan different = Ready(plan(2, 4));
  EXPECT_EQ(one.constants[0].data, other.constants[0].data);
  EXPECT_EQ(one.constants[0].data, loose.constants[0].data);
  EXPECT_NE(one.constants[0].data, different.constants[0].data);
  EXPECT_EQ(shared_->Bytes(), 2 * kLarge);
}

// Data aligned only to four bytes cannot be shared with a plan that requires 64.
TEST_F(SharedConstantsTest, DataIsSharedWhereItIsAligned) {
  ExecutablePlan loose{.constants = {Filled("w", 1)}, .steps = {Uses({0})}, .shared = shared_};
  auto owner = std::make_shared<std::vector<uint8_t>>(kLarge + 128, 1);
  const auto address = reinterpret_cast<uintptr_t>(owner->data());
  const uint8_t* const odd = owner->data() + (64 - address % 64) + 4;
  loose.constants[0].data = std::shared_ptr<const void>(owner, odd);
  const ExecutablePlan one = Ready(std::move(loose));
  EXPECT_EQ(one.constants[0].data.get(), odd);
  const ExecutablePlan aligned =
      Ready({.constants = {Filled("w", 1, 64)}, .steps = {Uses({0})}, .shared = shared_});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned.constants[0].data.get()) % 64, 0U);
  EXPECT_EQ(LastByte(aligned.constants[0]), 1);
}

TEST_F(SharedConstantsTest, TwoThreadsMakeEachOnce) {
  constexpr int kThreads = 4;
  std::vector<ExecutablePlan> plans(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { plans[t] = Ready(PackPlan(shared_, 5)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made.load(), 1);
  for (const ExecutablePlan& plan : plans)
    EXPECT_EQ(plan.constants[1].data, plans[0].constants[1].data);
}

TEST_F(SharedConstantsTest, ExecutablesComeAndGoInThreads) {
  constexpr int kThreads = 3;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const auto weight = static_cast<uint8_t>((round + t) % 3);
        const ExecutablePlan plan = Ready(PackPlan(shared_, weight));
        if (LastByte(plan.constants[1]) != weight) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(shared_->Bytes(), 0);
}

// Kernels read the same values from a reused constant as from one that was computed for their plan.
TEST_F(SharedConstantsTest, ExecutablesOfBothRunAlike) {
  const auto plan = [&] {
    return ExecutablePlan{
        .inputs = {VectorSpec("x")},
        .outputs = {VectorSpec("y")},
        .constants = {VectorConstant("c", Ramp(10, 1)), {.name = "packed", .bytes = kBytes}},
        .preprocessing = {{.name = "pack",
                           .kernel = ReverseKernel(),
                           .arguments = {C(0), C(1)},
                           .identity = "reverse"}},
        .steps = {{"add", AddKernel(), {ValueRef::Input(0), C(1), ValueRef::Output(0)}}},
        .threads = 2,
        .shared = shared_};
  };
  const auto run = [](const Executable& executable) {
    const Vector x = Ramp(1, 2);
    Vector y{};
    const void* const inputs[] = {x.data()};
    void* const outputs[] = {y.data()};
    EXPECT_TRUE(executable.Run(inputs, outputs).has_value());
    return y;
  };
  const auto one = Executable::Make(plan());
  const auto other = Executable::Make(plan());
  ASSERT_TRUE(one && other);
  EXPECT_EQ(shared_->Bytes(), kBytes);
  EXPECT_EQ(run(*one), run(*other));
  EXPECT_EQ(run(*one), Ramp(1 + 10 + kLength - 1, 1));
}

}  // namespace
}  // namespace tunec
