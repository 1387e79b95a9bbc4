#include "support/size_expression.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tunec {
namespace {

using Kind = SizeExpression::Kind;
using Steps = std::vector<SizeExpression::Step>;

TEST(SizeExpression, FollowsChains) {
  const SizeExpression n = SizeExpression::Size(0), m = SizeExpression::Size(1);
  const SizeExpression windows = n.Plus(-1).Over(2).Plus(1);
  EXPECT_EQ(windows.At(std::vector<int64_t>{224}), 112);
  EXPECT_EQ(windows.At(std::vector<int64_t>{225}), 113);
  EXPECT_EQ(windows.Times(m).Times(3).At(std::vector<int64_t>{5, 7}), 63);
  EXPECT_EQ(windows.Text(), "(((d0 + -1) / 2) + 1)");
  EXPECT_EQ(n.Plus(-5).Over(2).At(std::vector<int64_t>{2}), -2);  // rounds down, not towards 0
}

TEST(SizeExpression, FoldsConstants) {
  const SizeExpression n = SizeExpression::Size(0);
  EXPECT_EQ(n.Plus(3).Plus(-3), n);
  EXPECT_EQ(n.Times(1), n);
  EXPECT_EQ(n.Over(1), n);
  EXPECT_EQ(n.Plus(1).Plus(1), n.Plus(2));
  EXPECT_EQ(SizeExpression::Constant(2).Times(n), n.Times(2));
  EXPECT_EQ(SizeExpression::Constant(-3).Over(2), SizeExpression::Constant(-2));
}

TEST(SizeExpression, WhatIsUnknownStaysUnknown) {
  const SizeExpression none, n = SizeExpression::Size(0);
  EXPECT_TRUE(none.Plus(n).empty());
  EXPECT_TRUE(n.Times(none).empty());
  EXPECT_TRUE(none.Over(2).empty());
  EXPECT_FALSE(none.At(std::vector<int64_t>{1}));
  EXPECT_FALSE(n.At({}));
  SizeExpression deep = n;
  for (int i = 0; i < 100 && !deep.empty(); ++i) deep = deep.Plus(1).Over(2);
  EXPECT_TRUE(deep.empty());
}

TEST(SizeExpression, DoesNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const SizeExpression n = SizeExpression::Size(0);
  EXPECT_FALSE(n.Plus(1).At(std::vector<int64_t>{kMost}));
  EXPECT_FALSE(n.Times(2).At(std::vector<int64_t>{kMost}));
  EXPECT_EQ(n.Over(3).At(std::vector<int64_t>{std::numeric_limits<int64_t>::min()}),
            std::numeric_limits<int64_t>::min() / 3 - 1);
}

TEST(SizeExpression, RejectsStepsThatAreNone) {
  const Steps good = {{Kind::kSize, 1}, {Kind::kConstant, 3}, {Kind::kAdd}, {Kind::kDivide, 2}};
  ASSERT_TRUE(SizeExpression::FromSteps(good, 2));
  EXPECT_EQ(SizeExpression::FromSteps(good, 2)->At(std::vector<int64_t>{0, 6}), 4);
  EXPECT_FALSE(SizeExpression::FromSteps(good, 1));
  const std::vector<Steps> wrong = {{{Kind::kAdd}},
                                    {{Kind::kSize, -1}},
                                    {{Kind::kConstant, 1}, {Kind::kAdd}},
                                    {{Kind::kConstant, 1}, {Kind::kConstant, 1}},
                                    {{Kind::kDivide, 2}},
                                    {{Kind::kConstant, 1}, {Kind::kDivide, 0}},
                                    {{Kind::kConstant, 1}, {Kind::kDivide, -2}},
                                    {{static_cast<Kind>(9), 1}},
                                    Steps(SizeExpression::kMostSteps + 1, {Kind::kConstant, 1}),
                                    Steps(SizeExpression::kMostDepth + 1, {Kind::kConstant, 1})};
  for (const Steps& steps : wrong) EXPECT_FALSE(SizeExpression::FromSteps(steps, 4));
}

}  // namespace
}  // namespace tunec
