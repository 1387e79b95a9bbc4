// Tests of programs of sizes. A program of a random expression gives the expression's value.
#include "ir/size/size_program.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "ir/size/compile_size.h"
#include "tests/ir/random_sizes.h"

namespace tunec {
namespace {

using Kind = SizeProgram::Kind;
using Steps = std::vector<SizeProgram::Step>;

TEST(SizeProgram, GivesTheValueOfAnExpression) {
  Random random(1);
  int values = 0;
  for (int i = 0; i < 4000; ++i) {
    const SizeExpr size = test::RandomSize(random, 1 + i % 4);
    const auto program = CompileSize(size, test::kSizeNames);
    ASSERT_EQ(program.has_value(), size.IsKnown());
    if (!program) continue;
    for (int j = 0; j < 8; ++j) {
      const Sizes sizes = {test::Between(random, 0, 40), test::Between(random, 0, 40),
                           test::Between(random, 0, 40)};
      const auto expected = Evaluate(size, {{"a", sizes[0]}, {"b", sizes[1]}, {"c", sizes[2]}});
      if (!expected) continue;
      EXPECT_EQ(program->At(sizes), expected);
      ++values;
    }
  }
  EXPECT_GT(values, 20000);
}

TEST(SizeProgram, KnowsSinglesAndConstants) {
  const auto of = [](const SizeExpr& size) { return CompileSize(size, test::kSizeNames).value(); };
  const SizeExpr b = SizeExpr::Named("b");
  EXPECT_EQ(of(b).AsSize(), 1U);
  EXPECT_FALSE(of(b + 1).AsSize());
  EXPECT_TRUE(of(7).IsConstant());
  EXPECT_FALSE(of(b).IsConstant());
  EXPECT_FALSE(CompileSize(SizeExpr::Named("other"), test::kSizeNames));
  EXPECT_FALSE(CompileSize(SizeExpr::Unknown(), test::kSizeNames));
}

TEST(SizeProgram, HasNoValueWhereArithmeticHasNone) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const auto at = [](Kind kind, int64_t a, int64_t b) {
    return SizeProgram::FromSteps({{Kind::kSize, 0}, {Kind::kSize, 1}, {kind}}, 2)->At(Sizes{a, b});
  };
  EXPECT_FALSE(at(Kind::kAdd, kLeast, -1));
  EXPECT_FALSE(at(Kind::kMultiply, kLeast, -1));
  EXPECT_FALSE(at(Kind::kDivide, kLeast, -1));
  EXPECT_FALSE(at(Kind::kRemainder, kLeast, -1));
  EXPECT_FALSE(at(Kind::kDivide, 3, 0));
  EXPECT_FALSE(at(Kind::kRemainder, 3, 0));
  EXPECT_EQ(at(Kind::kDivide, -5, 2), -3);
  EXPECT_EQ(at(Kind::kDivide, 5, -2), -3);
  EXPECT_EQ(at(Kind::kRemainder, -5, 3), 1);
  EXPECT_EQ(at(Kind::kRemainder, 5, -3), -1);
  EXPECT_EQ(at(Kind::kMaximum, -5, 3), 3);
  EXPECT_FALSE(SizeProgram().At(Sizes{1}));
  EXPECT_FALSE(SizeProgram::FromSteps({{Kind::kSize, 3}}, SIZE_MAX)->At(Sizes{1}));
}

TEST(SizeProgram, GivesNoExtentOutsideTheRange) {
  const auto extent = [](int64_t value) {
    return SizeProgram::FromSteps({{Kind::kConstant, value}}, 0)->ExtentAt({});
  };
  EXPECT_EQ(extent(7), 7);
  EXPECT_EQ(extent(0), 0);
  EXPECT_FALSE(extent(-1));
  EXPECT_FALSE(extent(int64_t{1} << 50));
}

TEST(SizeProgram, RejectsStepsThatAreNoProgram) {
  const Steps good = {{Kind::kSize, 1}, {Kind::kConstant, 3}, {Kind::kAdd}};
  ASSERT_TRUE(SizeProgram::FromSteps(good, 2));
  EXPECT_FALSE(SizeProgram::FromSteps(good, 1));
  const std::vector<Steps> wrong = {{{Kind::kAdd}},
                                    {{Kind::kSize, -1}},
                                    {{Kind::kConstant, 1}, {Kind::kMaximum}},
                                    {{Kind::kConstant, 1}, {Kind::kConstant, 1}},
                                    {{static_cast<Kind>(7), 1}},
                                    Steps(SizeProgram::kMostSteps + 1, {Kind::kConstant, 1}),
                                    Steps(SizeProgram::kMostDepth + 1, {Kind::kConstant, 1})};
  for (const Steps& steps : wrong) EXPECT_FALSE(SizeProgram::FromSteps(steps, 4));
}

TEST(SizeCheck, HoldsWhereTheConditionHolds) {
  const SizeExpr a = SizeExpr::Named("a"), b = SizeExpr::Named("b");
  const auto of = [](SizeCondition::Kind kind, const SizeExpr& left, const SizeExpr& right) {
    return CompileCondition({kind, left, right}, test::kSizeNames).value();
  };
  const SizeCheck even = of(SizeCondition::Kind::kEqual, SizeExpr::Mod(a, 2), 0);
  EXPECT_EQ(even.text, "a mod 2 == 0");
  EXPECT_TRUE(even.HoldsAt(Sizes{4, 1, 1}));
  EXPECT_FALSE(even.HoldsAt(Sizes{5, 1, 1}));
  EXPECT_FALSE(even.HoldsAt({}));
  const SizeCheck less = of(SizeCondition::Kind::kAtMost, a, b);
  const std::vector<SizeCheck> both = {even, less};
  EXPECT_EQ(FindFailed(both, Sizes{4, 5, 0}), nullptr);
  EXPECT_EQ(FindFailed(both, Sizes{4, 3, 0}), &both[1]);
}

}  // namespace
}  // namespace tunec
