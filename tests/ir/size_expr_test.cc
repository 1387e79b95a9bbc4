#include "ir/size/size_expr.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "ir/size/prove_sizes.h"
#include "ir/size/size_text.h"
#include "support/random.h"
#include "tests/ir/random_sizes.h"

namespace tunec {
namespace {

using test::kSizeNames;
using test::WrittenSize;

SizeExpr Parse(std::string_view text) {
  auto lexer = Lexer::Create(text, "size");
  EXPECT_TRUE(lexer);
  auto expr = ParseSizeExpr(*lexer);
  EXPECT_TRUE(expr) << text << ": " << (expr ? "" : expr.error().message);
  EXPECT_TRUE(lexer->IsAtEnd()) << text;
  return expr ? expr->size : SizeExpr::Unknown();
}

std::string Normal(std::string_view text) { return Print(Parse(text)); }

// Calls `visit` with many values of the three sizes within the ranges.
template <class Visit>
void ForEachPoint(const SizeRanges& ranges, Random& random, const Visit& visit) {
  const auto range_of = [&](size_t i) {
    const auto found = ranges.find(kSizeNames[i]);
    return found == ranges.end() ? Interval{0, 1000} : found->second;
  };
  for (int64_t a = 0; a < 7; ++a) {
    for (int64_t b = 0; b < 7; ++b) {
      for (int64_t c = 0; c < 3; ++c) {
        const auto value = [&](size_t i, int64_t offset) {
          const Interval range = range_of(i);
          return std::min(range.lo + offset, range.hi);
        };
        visit({value(0, a), value(1, b), value(2, c)});
      }
    }
  }
  for (int n = 0; n < 60; ++n) {
    std::vector<int64_t> point;
    for (size_t i = 0; i < 3; ++i)
      point.push_back(test::Between(random, range_of(i).lo, range_of(i).hi));
    visit(point);
  }
}

std::optional<int64_t> ValueOf(const SizeExpr& expr, const std::vector<int64_t>& sizes) {
  SizeValues named;
  for (size_t i = 0; i < kSizeNames.size(); ++i) named[kSizeNames[i]] = sizes[i];
  return Evaluate(expr, named);
}

SizeRanges RandomRanges(Random& random) {
  SizeRanges ranges;
  for (const std::string& name : kSizeNames) {
    if (random.Below(3) == 0) continue;
    const int64_t low = test::Between(random, 0, 20);
    ranges[name] = {low, low + test::Between(random, 0, 100)};
  }
  return ranges;
}

RC_GTEST_PROP(SizeExpr, TheNormalFormHasTheValueOfTheText, (uint64_t seed)) {
  Random random(seed);
  const WrittenSize written = test::RandomWrittenSize(random, 4, false);
  const SizeExpr expr = test::MakeSize(written);
  RC_PRE(expr.IsKnown());
  RC_LOG() << test::Text(written) << "  =>  " << Print(expr);
  ForEachPoint({}, random, [&](const std::vector<int64_t>& point) {
    const std::optional<int64_t> value = test::ValueOf(written, point);
    if (value) RC_ASSERT(ValueOf(expr, point) == value);
  });
}

RC_GTEST_PROP(SizeExpr, ParsingItsTextGivesTheNormalForm, (uint64_t seed)) {
  Random random(seed);
  const SizeExpr expr = test::RandomSize(random, 4);
  RC_PRE(expr.IsKnown());
  const SizeExpr again = Parse(Print(expr));
  RC_LOG() << Print(expr) << "  =>  " << Print(again);
  RC_ASSERT(again == expr);
  RC_ASSERT(again.Hash() == expr.Hash());
}

RC_GTEST_PROP(SizeExpr, SubstitutionAgreesWithEvaluation, (uint64_t seed)) {
  Random random(seed);
  const SizeExpr expr = test::RandomSize(random, 3);
  const SizeExpr other = test::RandomSize(random, 2);
  const SizeExpr replaced = Substitute(expr, {{"a", other}});
  RC_PRE(replaced.IsKnown());
  ForEachPoint({}, random, [&](const std::vector<int64_t>& point) {
    const std::optional<int64_t> a = ValueOf(other, point);
    if (!a || *a < 0) return;  // a named size is not negative
    const std::optional<int64_t> expected = ValueOf(expr, {*a, point[1], point[2]});
    if (expected) RC_ASSERT(ValueOf(replaced, point) == expected);
  });
}

RC_GTEST_PROP(SizeExpr, RangesContainAllValues, (uint64_t seed)) {
  Random random(seed);
  const SizeExpr expr = test::RandomSize(random, 4);
  RC_PRE(expr.IsKnown());
  const SizeRanges ranges = RandomRanges(random);
  const Interval range = RangeOf(expr, ranges);
  RC_LOG() << Print(expr) << " in [" << range.lo << ", " << range.hi << "]";
  ForEachPoint(ranges, random, [&](const std::vector<int64_t>& point) {
    const std::optional<int64_t> value = ValueOf(expr, point);
    if (!value) return;
    RC_ASSERT(range.lo <= *value);
    RC_ASSERT(*value <= range.hi);
  });
}

RC_GTEST_PROP(SizeExpr, ProofsHold, (uint64_t seed)) {
  Random random(seed);
  const SizeExpr a = test::RandomSize(random, 3);
  // Half of the expressions are related, so that proofs are found.
  const SizeExpr other = test::RandomSize(random, 2);
  const SizeExpr b =
      random.Below(2) == 0 ? other : a + SizeExpr::Max(other, test::Between(random, -2, 2));
  RC_PRE(a.IsKnown() && b.IsKnown());
  const SizeRanges ranges = RandomRanges(random);
  const bool at_most = ProveAtMost(a, b, ranges);
  const bool equal = ProveEqual(a, b, ranges);
  RC_LOG() << Print(a) << " and " << Print(b);
  ForEachPoint(ranges, random, [&](const std::vector<int64_t>& point) {
    const std::optional<int64_t> x = ValueOf(a, point);
    const std::optional<int64_t> y = ValueOf(b, point);
    if (!x || !y) return;
    if (at_most) RC_ASSERT(*x <= *y);
    if (equal) RC_ASSERT(*x == *y);
  });
}

TEST(SizeExpr, NormalForms) {
  EXPECT_EQ(Normal("1 + h*3"), "3*h + 1");
  EXPECT_EQ(Normal("b*l - l*b"), "0");
  EXPECT_EQ(Normal("(n + 1)*(n - 1)"), "n*n - 1");
  EXPECT_EQ(Normal("4*n/2"), "2*n");
  EXPECT_EQ(Normal("(4*n + 5)/2"), "2*n + 2");
  EXPECT_EQ(Normal("(6*n + 4)/8"), "(3*n + 2)/4");
  EXPECT_EQ(Normal("n/(-2)"), "-((n + 1)/2)");
  EXPECT_EQ(Normal("n mod (-3)"), "((n + 2) mod 3) - 2");
  EXPECT_EQ(Normal("(n*m + m)/m"), "n + 1");
  EXPECT_EQ(Normal("(n*m + n)/(m + 1)"), "n");
  EXPECT_EQ(Normal("(n*m + 3) mod m"), "3 mod m");
  EXPECT_EQ(Normal("n/2*2 + n mod 2"), "n");
  EXPECT_EQ(Normal("(n - n mod 2)/2"), "n/2");
  EXPECT_EQ(Normal("(n mod 12) mod 4"), "n mod 4");
  EXPECT_EQ(Normal("(n mod 4) mod 12"), "n mod 4");
  EXPECT_EQ(Normal("(n mod 4)/4"), "0");
  EXPECT_EQ(Normal("((n - 1)/2 - 1)/2"), "(n + 1)/4 - 1");
  EXPECT_EQ(Normal("max(n, 0)"), "n");
  EXPECT_EQ(Normal("min(n, 0)"), "0");
  EXPECT_EQ(Normal("max(n, n + 1, m)"), "max(m, n + 1)");
  EXPECT_EQ(Normal("min(n + 1, m + 1)"), "min(m, n) + 1");
  EXPECT_EQ(Normal("min(2*n, 4*m)"), "2*min(2*m, n)");
  EXPECT_EQ(Normal("-max(-n, -m)"), "min(m, n)");
  EXPECT_EQ(Normal("max(n, max(m, 3))"), "max(3, m, n)");
  EXPECT_EQ(Normal("\"seq len\" + \"max\""), "\"max\" + \"seq len\"");
}

TEST(SizeExpr, SizesThatModelsCompute) {
  const SizeRanges ranges{{"n", {16, 512}}, {"b", {1, 64}}, {"h", {32, 1024}}};
  const auto equal = [&](std::string_view a, std::string_view b) {
    return ProveEqual(Parse(a), Parse(b), ranges);
  };
  const auto at_most = [&](std::string_view a, std::string_view b) {
    return ProveAtMost(Parse(a), Parse(b), ranges);
  };
  // Five strided convolutions divide like one division by 32.
  std::string chain = "h";
  for (int i = 0; i < 5; ++i) chain = fmt::format("(({} - 1)/2 + 1)", chain);
  EXPECT_TRUE(equal(chain, "(h + 31)/32"));
  EXPECT_TRUE(equal("3*n/2", "n + n/2"));
  EXPECT_TRUE(equal("n/2 + (n + 1)/2", "n"));
  EXPECT_TRUE(equal("max(n, 7)", "n"));
  EXPECT_TRUE(equal("b*(n + 1)/b", "n + 1"));
  EXPECT_TRUE(equal("n + (-n) mod 8", "8*((n + 7)/8)"));
  EXPECT_TRUE(at_most("n", "8*((n + 7)/8)"));
  EXPECT_TRUE(at_most("8*((n + 7)/8)", "n + 7"));
  EXPECT_TRUE(at_most("n", "b*n"));
  EXPECT_TRUE(at_most("n/b", "n"));
  EXPECT_TRUE(at_most("min(n, b)", "n"));
  EXPECT_TRUE(at_most("1", "n/16"));
  EXPECT_TRUE(at_most("n mod b", "b - 1"));
  EXPECT_FALSE(at_most("n", "n/2*2"));
  EXPECT_FALSE(equal("b", "n"));
  EXPECT_FALSE(equal("n mod 10", "n"));
  EXPECT_EQ(RangeOf(Parse("n/10*10"), ranges), (Interval{10, 510}));
  EXPECT_EQ(RangeOf(Parse("n mod 10"), ranges), (Interval{0, 9}));
  EXPECT_EQ(RangeOf(Parse("n*b"), ranges), (Interval{16, 512 * 64}));
  EXPECT_EQ(RangeOf(Parse("(n - 100)*(n - 100)"), {}).lo, -kUnbounded);
}

TEST(SizeExpr, BeyondTheLimitsNothingIsKnown) {
  SizeExpr deep = SizeExpr::Named("n");
  for (int i = 0; i <= SizeExpr::kMostDepth; ++i)
    deep = SizeExpr::Mod(deep + SizeExpr::Named(fmt::format("m{}", i)), SizeExpr::Named("k") + i);
  EXPECT_FALSE(deep.IsKnown());
  SizeExpr wide;
  for (int i = 0; i <= SizeExpr::kMostFactors; ++i)
    wide = wide + SizeExpr::Named(fmt::format("m{}", i));
  EXPECT_FALSE(wide.IsKnown());
  EXPECT_EQ(Print(wide + 1), "?");
  EXPECT_FALSE(SizeExpr(INT64_MAX).IsKnown());
  EXPECT_FALSE((SizeExpr(kUnbounded) * 2).IsKnown());
  EXPECT_FALSE((SizeExpr(kUnbounded) + 1).IsKnown());
  EXPECT_FALSE(SizeExpr::Mod(SizeExpr::Named("n"), 0).IsKnown());
  EXPECT_FALSE(ProveEqual(wide, wide, {}));
  EXPECT_FALSE(ProveAtMost(wide, wide, {}));
  const SizeExpr n = SizeExpr::Named("n");
  EXPECT_EQ(Evaluate(n * n, {{"n", int64_t{1} << 31}}), std::nullopt);
  EXPECT_EQ(Evaluate(n, {}), std::nullopt);
  EXPECT_EQ(Evaluate(SizeExpr::FloorDiv(7, n), {{"n", 0}}), std::nullopt);
}

TEST(SizeExpr, NumbersAtTheLimit) {
  const SizeExpr n = SizeExpr::Named("n");
  const SizeExpr large = kUnbounded;
  EXPECT_EQ(Evaluate(SizeExpr::Max(large, n - large), {{"n", 0}}).value_or(kUnbounded), kUnbounded);
  EXPECT_EQ(RangeOf(SizeExpr::FloorDiv(large, n), {}), (Interval{1, kUnbounded}));
  EXPECT_EQ(Evaluate(SizeExpr::Max(SizeExpr::FloorDiv(large, n), 5), {{"n", int64_t{1} << 59}}), 5);
  const SizeExpr beyond = (n + large) + 1;
  EXPECT_FALSE(beyond.IsKnown());
  EXPECT_EQ(beyond, SizeExpr::Unknown());
  EXPECT_EQ(beyond.AsName(), std::nullopt);
}

// Without limits and memory, these texts take minutes.
TEST(SizeExpr, LongTextsTakeLittleTime) {
  const auto parse = [](const std::string& text) {
    auto lexer = Lexer::Create(text, "size");
    return ParseSizeExpr(*lexer).has_value();
  };
  std::string nested = "(n mod m) - n";
  for (int i = 0; i < 11; ++i) nested = fmt::format("(n mod ({})) - n", nested);
  EXPECT_TRUE(parse(fmt::format("({})/2", nested)));
  std::string power = "n";
  std::string maximum = "n0";
  for (int i = 1; i < 20000; ++i) {
    power += "*n";
    maximum += fmt::format(", n{}", i);
  }
  EXPECT_FALSE(parse(power));
  EXPECT_FALSE(parse(fmt::format("max({})", maximum)));
}

TEST(SizeExpr, ErrorsOfTexts) {
  const auto error = [](std::string_view text) {
    auto lexer = Lexer::Create(text, "size");
    const auto expr = ParseSizeExpr(*lexer);
    return expr ? Print(expr->size) : expr.error().message;
  };
  EXPECT_EQ(error("n/0"), "a size is divided by 0");
  EXPECT_EQ(error("n mod (m - m)"), "a size is divided by 0");
  EXPECT_EQ(error("min(n)"), "expected ',', found ')'");
  EXPECT_EQ(error("3 + mod"), "expected a size, found 'mod'");
  EXPECT_EQ(error("2 * -n"), "expected a size, found '-'");
  EXPECT_EQ(
      error("4611686018427387904"),
      "a size has more than 64 factors, more than 16 nested divisions, or a number beyond 2^60");
  EXPECT_EQ(error(std::string(100, '(')), "a size is nested more than 64 deep");
}

}  // namespace
}  // namespace tunec
