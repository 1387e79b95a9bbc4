// Tests the partial check of large kernels. Only some blocks run, and only the elements that they
// write are compared.
#include "autotune/checker/sample_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "autotune/checker/check.h"

namespace tunec {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SampleBlocks, TakesTheCornersFirst) {
  const std::vector<int64_t> extents = {5, 3, 7};
  EXPECT_THAT(SampleBlocks(extents, 1, 0), ElementsAre(104));
  EXPECT_THAT(SampleBlocks(extents, 8, 0), ElementsAre(0, 6, 14, 20, 84, 90, 98, 104));
  const std::vector<int64_t> more = SampleBlocks(extents, 20, 0);
  EXPECT_THAT(more, SizeIs(20));
  for (const int64_t corner : {0, 6, 14, 20, 84, 90, 98, 104}) EXPECT_THAT(more, Contains(corner));
  EXPECT_TRUE(std::ranges::is_sorted(more));
  EXPECT_EQ(more, SampleBlocks(extents, 20, 0));
  EXPECT_NE(more, SampleBlocks(extents, 20, 1));
  EXPECT_THAT(SampleBlocks(extents, 105, 0), SizeIs(105));
  EXPECT_THAT(SampleBlocks(std::vector<int64_t>{1, 1}, 1, 0), ElementsAre(0));
}

TEST(SampleBlocks, AreAsManyAsTheirOperationsAllow) {
  const std::vector<int64_t> extents = {1000};
  const PhaseLaunch launch{.grid = {1000, 1, 1}, .block = {100, 1, 1}};
  // A check may emulate 2^26 operations. Each of the 1000 * 100 threads counts as 400 operations.
  const double left = (1 << 26) - 400.0 * 1000 * 100;
  EXPECT_THAT(BlocksToCheck(launch, {.operations = left / 2, .loads = left / 2}, extents, 0),
              IsEmpty());
  EXPECT_THAT(BlocksToCheck(launch, {.operations = left, .loads = 1e5}, extents, 0),
              SizeIs(499));  // each block runs twice
  const PhaseWork huge{.operations = 1e15};
  EXPECT_THAT(BlocksToCheck(launch, huge, extents, 0), ElementsAre(999));
  const PhaseWork huge_tiles{.matrix_f16 = 1e15};
  EXPECT_THAT(BlocksToCheck(launch, huge_tiles, extents, 0), ElementsAre(999));
}

TEST(SampleBlocks, WhatEitherRunChangedIsWritten) {
  Array ones(DataType::kI16, {4});
  std::memset(ones.mutable_data(), 0xff, ones.bytes());
  Array zeros(DataType::kI16, {4});
  ones.SetInt(0, 7);
  zeros.SetInt(0, 7);
  zeros.SetInt(1, -1);  // the written value equals the initial value in `ones`
  ones.SetInt(2, 0);    // the written value equals the initial value in `zeros`
  EXPECT_THAT(WrittenElements(ones, zeros), ElementsAre(true, true, true, false));
}

OutputChecker CheckerOf(const Array& expected) {
  return {.name = "C", .expected = expected, .allowed = 1e-6};
}

TEST(CheckOutputs, PassesOverWhatDoesNotCount) {
  Array expected(DataType::kF64, {4});
  Array actual(DataType::kF32, {4});
  for (int64_t i = 0; i < 4; ++i) {
    expected.SetDouble(i, 0.25);
    actual.SetDouble(i, 0.25);
  }
  actual.SetDouble(1, NAN);
  actual.SetDouble(3, 0.75);
  const std::vector<OutputChecker> checkers = {CheckerOf(expected)};
  EXPECT_THAT(CheckOutputs({actual}, checkers).problem, HasSubstr("C[1] is nan"));
  EXPECT_THAT(CheckOutputs({actual}, checkers, {{true, false, true, true}}).problem,
              HasSubstr("element 3 is 0.75, expected 0.25"));
  EXPECT_EQ(CheckOutputs({actual}, checkers, {{true, false, true, false}}).problem, "");

  Array levels(DataType::kI32, {2});
  const std::vector<OutputChecker> of_levels = {CheckerOf(Array(DataType::kI32, {2}))};
  levels.SetInt(1, 5);
  EXPECT_THAT(CheckOutputs({levels}, of_levels).problem, HasSubstr("C[1] is 5, expected 0"));
  EXPECT_EQ(CheckOutputs({levels}, of_levels, {{true, false}}).problem, "");
}

}  // namespace
}  // namespace tunec
