#include "compiler/assemble/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace tunec {
namespace {

using testing::HasSubstr;

// Returns the largest number of bytes of values that are alive at the same step. A plan without
// in-place reuse needs at least as many bytes.
int64_t PeakLiveBytes(std::span<const PlannedValue> values) {
  std::map<int, int64_t> change;  // change of the live bytes at the start of each step
  for (const PlannedValue& value : values) {
    change[value.first_use] += value.bytes;
    change[value.last_use + 1] -= value.bytes;
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [step, bytes] : change) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

std::string VerifyMessage(std::span<const PlannedValue> values, const MemoryPlan& plan) {
  const Status status = VerifyPlan(values, plan);
  return status ? "" : status.error().message;
}

TEST(MemoryPlan, OfNothingIsEmpty) {
  const MemoryPlan plan = PlanMemory({});
  EXPECT_EQ(plan.total_bytes, 0);
  EXPECT_TRUE(VerifyPlan({}, plan).has_value());
}

TEST(MemoryPlan, AChainNeedsTwoBuffersOrOneInPlace) {
  std::vector<PlannedValue> values;
  for (int i = 0; i < 10; ++i) values.push_back({.bytes = 1024, .first_use = i, .last_use = i + 1});
  EXPECT_EQ(PlanMemory(values).total_bytes, 2048);
  for (int i = 1; i < 10; ++i) values[i].in_place_of = {i - 1};
  const MemoryPlan plan = PlanMemory(values);
  EXPECT_EQ(plan.total_bytes, 1024);
  EXPECT_EQ(plan.in_place_of[9], 8);
  EXPECT_EQ(VerifyMessage(values, plan), "");
}

TEST(MemoryPlan, DoesNotTakeOverWhatIsReadLater) {
  const std::vector<PlannedValue> values = {
      {.bytes = 64, .first_use = 0, .last_use = 2},  // the residual, read again at step 2
      {.bytes = 64, .first_use = 1, .last_use = 2, .in_place_of = {0}},
      {.bytes = 64, .first_use = 2, .last_use = 3, .in_place_of = {0, 1}},
  };
  const MemoryPlan plan = PlanMemory(values);
  EXPECT_EQ(plan.in_place_of, (std::vector<int>{-1, -1, 0}));
  EXPECT_EQ(plan.total_bytes, 128);
  EXPECT_EQ(VerifyMessage(values, plan), "");
}

TEST(MemoryPlan, OnlyOneValueTakesOver) {
  const std::vector<PlannedValue> values = {
      {.bytes = 64, .first_use = 0, .last_use = 1},
      {.bytes = 64, .first_use = 1, .last_use = 2, .in_place_of = {0}},
      {.bytes = 64, .first_use = 1, .last_use = 2, .in_place_of = {0}},
  };
  const MemoryPlan plan = PlanMemory(values);
  EXPECT_EQ(plan.total_bytes, 128);
  EXPECT_EQ(VerifyMessage(values, plan), "");
}

TEST(MemoryPlan, ALargerValueDoesNotTakeOver) {
  const std::vector<PlannedValue> values = {
      {.bytes = 64, .first_use = 0, .last_use = 1},
      {.bytes = 128, .first_use = 1, .last_use = 2, .in_place_of = {0}},
  };
  EXPECT_EQ(PlanMemory(values).in_place_of[1], -1);
}

TEST(MemoryPlan, LeavesOutReuseThatCostsMemory) {
  // In place, the small value would occupy the large block while another large value is alive.
  const std::vector<PlannedValue> values = {
      {.bytes = 1 << 20, .first_use = 0, .last_use = 1},
      {.bytes = 64, .first_use = 1, .last_use = 4, .in_place_of = {0}},
      {.bytes = 1 << 20, .first_use = 2, .last_use = 3},
  };
  const MemoryPlan plan = PlanMemory(values);
  EXPECT_EQ(plan.total_bytes, (1 << 20) + 64);
  EXPECT_EQ(VerifyMessage(values, plan), "");
}

TEST(MemoryPlan, FillsTheGapThatFits) {
  const std::vector<PlannedValue> values = {
      {.bytes = 640, .first_use = 0, .last_use = 1}, {.bytes = 512, .first_use = 0, .last_use = 4},
      {.bytes = 128, .first_use = 0, .last_use = 1}, {.bytes = 256, .first_use = 0, .last_use = 4},
      {.bytes = 128, .first_use = 2, .last_use = 4}, {.bytes = 640, .first_use = 2, .last_use = 4},
  };
  EXPECT_EQ(PlanMemory(values).total_bytes, PeakLiveBytes(values));
}

TEST(VerifyPlan, NamesWhatIsWrong) {
  const std::vector<PlannedValue> values = {
      {.bytes = 64, .first_use = 0, .last_use = 1},
      {.bytes = 64, .first_use = 1, .last_use = 3, .in_place_of = {0}},
      {.bytes = 64, .first_use = 2, .last_use = 3},
  };
  const MemoryPlan good{{0, 0, 64}, {-1, 0, -1}, 128};
  EXPECT_EQ(VerifyMessage(values, good), "");
  EXPECT_THAT(VerifyMessage(values, {{0, 0}, {-1, 0}, 128}), HasSubstr("2 offsets for 3 values"));
  EXPECT_THAT(VerifyMessage(values, {{0, 0, 32}, {-1, 0, -1}, 128}), HasSubstr("offset 32"));
  EXPECT_THAT(VerifyMessage(values, {{0, 0, -64}, {-1, 0, -1}, 128}), HasSubstr("offset -64"));
  EXPECT_THAT(VerifyMessage(values, {{0, 0, 128}, {-1, 0, -1}, 128}), HasSubstr("ends at 192"));
  EXPECT_THAT(VerifyMessage(values, {{0, 64, 0}, {-1, 0, -1}, 128}), HasSubstr("offsets differ"));
  EXPECT_THAT(VerifyMessage(values, {{0, 64, 0}, {-1, -1, 1}, 128}), HasSubstr("not a candidate"));
  EXPECT_THAT(VerifyMessage(values, {{0, 64, 0}, {-1, -1, 7}, 128}), HasSubstr("value 7 of 3"));
  EXPECT_THAT(VerifyMessage(values, {{0, 0, 64}, {-1, -1, -1}, 128}),
              HasSubstr("values 0 and 1 are alive together and overlap"));
  EXPECT_THAT(VerifyMessage(values, {{0, 64, 64}, {-1, -1, -1}, 128}),
              HasSubstr("values 1 and 2 are alive together and overlap"));
}

// Returns random values, each of which is alive for one to four steps.
std::vector<PlannedValue> RandomValues() {
  const int steps = *rc::gen::inRange(1, 30);
  const int count = *rc::gen::inRange(0, 60);
  std::vector<PlannedValue> values;
  for (int v = 0; v < count; ++v) {
    PlannedValue value;
    value.bytes = *rc::gen::inRange(0, 5000);
    value.alignment = int64_t{1} << *rc::gen::inRange(0, 8);
    value.first_use = *rc::gen::inRange(0, steps);
    value.last_use = value.first_use + *rc::gen::inRange(0, 4);
    for (int u = 0; u < v; ++u)
      if (values[u].last_use == value.first_use && *rc::gen::arbitrary<bool>())
        value.in_place_of.push_back(u);
    values.push_back(value);
  }
  return values;
}

RC_GTEST_PROP(MemoryPlanProperty, IsValidDeterministicAndBounded, ()) {
  const std::vector<PlannedValue> values = RandomValues();
  const MemoryPlan plan = PlanMemory(values);
  RC_ASSERT(VerifyMessage(values, plan) == "");
  const MemoryPlan again = PlanMemory(values);
  RC_ASSERT(plan.offset == again.offset);
  RC_ASSERT(plan.total_bytes == again.total_bytes);
  int64_t no_sharing = 0;
  for (const PlannedValue& value : values) no_sharing += value.bytes + value.alignment;
  RC_ASSERT(plan.total_bytes <= no_sharing);
}

RC_GTEST_PROP(MemoryPlanProperty, WithoutReuseInPlaceIsNearThePeak, ()) {
  std::vector<PlannedValue> values = RandomValues();
  for (PlannedValue& value : values) {
    value.in_place_of.clear();
    value.alignment = 64;
    value.bytes = (value.bytes + 63) / 64 * 64;
  }
  const MemoryPlan plan = PlanMemory(values);
  const int64_t peak = PeakLiveBytes(values);
  RC_ASSERT(plan.total_bytes >= peak);
  // Greedy packing of intervals has no such bound in theory. A plan above it is treated as a fault.
  RC_ASSERT(plan.total_bytes <= peak * 3 / 2 + 64);
}

}  // namespace
}  // namespace tunec
