#include "ir/expr/index_expr.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/text/parse_expr.h"
#include "ir/text/print_expr.h"
#include "tests/ir/random_ir.h"

namespace tunec {
namespace {

constexpr int kVariables = 3;
constexpr int64_t kExtents[kVariables] = {7, 5, 16};

const TextNames kNames{.variable = [](VarId v) { return std::string(1, "ijk"[v.index()]); },
                       .read = {},
                       .loaded = [](int slot) { return fmt::format("@{}", slot); }};

Result<IndexExpr> Parse(std::string_view text) {
  auto lexer = Lexer::Create(text, "index");
  if (!lexer) return std::unexpected(lexer.error());
  const Tensors no_tensors;
  ExprParser parser(*lexer, no_tensors, [](const std::string& name) -> std::optional<VarId> {
    if (name.size() != 1 || name[0] < 'i' || name[0] > 'k') return std::nullopt;
    return VarId(name[0] - 'i');
  });
  TUNEC_ASSIGN(IndexExpr expr, parser.ParseIndex());
  if (!lexer->IsAtEnd()) return lexer->Expected("the end");
  return expr;
}

Interval RangeOf(VarId v) { return {0, kExtents[v.index()] - 1}; }

template <class Visit>
void ForEachPoint(const Visit& visit) {
  for (int64_t i = 0; i < kExtents[0]; ++i) {
    for (int64_t j = 0; j < kExtents[1]; ++j) {
      for (int64_t k = 0; k < kExtents[2]; ++k) visit(std::vector<int64_t>{i, j, k});
    }
  }
}

RC_GTEST_PROP(IndexExpr, ParsingItsTextGivesTheNormalForm, (uint64_t seed)) {
  Random random(seed);
  const IndexExpr expr = test::RandomIndex(random, kVariables, 4);
  const std::string text = PrintIndex(expr, kNames);
  const auto parsed = Parse(text);
  RC_LOG() << text;
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == expr);
  RC_ASSERT(PrintIndex(*parsed, kNames) == text);
}

RC_GTEST_PROP(IndexExpr, SimplifyAndBoundsAgreeWithEvaluation, (uint64_t seed)) {
  Random random(seed);
  const IndexExpr expr = test::RandomIndex(random, kVariables, 3);
  const IndexExpr simple = Simplify(expr, RangeOf);
  const Interval bounds = BoundsOf(expr, RangeOf);
  RC_LOG() << PrintIndex(expr, kNames) << "  =>  " << PrintIndex(simple, kNames);
  ForEachPoint([&](const std::vector<int64_t>& point) {
    const int64_t value = Evaluate(expr, point);
    RC_ASSERT(Evaluate(simple, point) == value);
    RC_ASSERT(bounds.lo <= value);
    RC_ASSERT(value <= bounds.hi);
  });
}

// The expression is x with its last bit inverted: the other element of a pair.
TEST(IndexExpr, BoundsOfANeighbourInAPairAreExact) {
  const IndexExpr x = IndexExpr::Var(VarId(0));
  const IndexExpr neighbour = IndexExpr::FloorDiv(x, 2) * 4 - x + 1;
  EXPECT_EQ(BoundsOf(neighbour, [](VarId) { return Interval{0, 3}; }), (Interval{0, 3}));
  const IndexExpr loaded = IndexExpr::FloorDiv(IndexExpr::Loaded(0), 2) * 4 - IndexExpr::Loaded(0);
  EXPECT_EQ(BoundsOf(loaded + 1, {}, [](int) { return Interval{0, 3}; }), (Interval{0, 3}));
}

// The sum contains only a remainder of the variable `lane`, as in fused loops.
TEST(IndexExpr, SimplifyFindsRemaindersInDivisions) {
  const auto ranges = [](VarId v) { return Interval{0, v == VarId(0) ? 31 : 3}; };
  const IndexExpr lane = IndexExpr::Var(VarId(0));
  const IndexExpr sum = IndexExpr::Mod(lane, 4) + IndexExpr::Var(VarId(1)) * 4;
  EXPECT_EQ(Simplify(IndexExpr::FloorDiv(sum, 16), ranges), IndexExpr(0));
  EXPECT_EQ(Simplify(IndexExpr::Mod(sum, 16), ranges), sum);
  EXPECT_EQ(Simplify(IndexExpr::FloorDiv(sum + IndexExpr::FloorDiv(lane, 4) * 16, 16), ranges),
            IndexExpr::FloorDiv(lane, 4));
  // The sum can be larger than the divisor, so the quotient must not be simplified to 0.
  EXPECT_NE(Simplify(IndexExpr::FloorDiv(sum, 12), ranges), IndexExpr(0));
}

// The expression is the middle digit of x. The digits of x have the bases 4, 2 and 2.
TEST(IndexExpr, BoundsOfADigitBetweenOthersAreExact) {
  const IndexExpr x = IndexExpr::Loaded(0);
  const IndexExpr digit = IndexExpr::FloorDiv(x, 2) - IndexExpr::FloorDiv(x, 4) * 2;
  EXPECT_EQ(BoundsOf(digit, {}, [](int) { return Interval{0, 15}; }), (Interval{0, 1}));
  EXPECT_EQ(BoundsOf(digit, {}, [](int) { return Interval{4, 5}; }), (Interval{0, 0}));
}

RC_GTEST_PROP(IndexExpr, ConstructionAgreesWithArithmetic, (uint64_t seed)) {
  Random random(seed);
  const IndexExpr a = test::RandomIndex(random, kVariables, 3);
  const IndexExpr b = test::RandomIndex(random, kVariables, 3);
  const auto d = static_cast<int64_t>(1 + random.Below(12));
  ForEachPoint([&](const std::vector<int64_t>& p) {
    const int64_t x = Evaluate(a, p);
    RC_ASSERT(Evaluate(a + b, p) == x + Evaluate(b, p));
    RC_ASSERT(Evaluate(a - b, p) == x - Evaluate(b, p));
    RC_ASSERT(Evaluate(IndexExpr::FloorDiv(a, d), p) == FloorDivide(x, d));
    RC_ASSERT(Evaluate(IndexExpr::Mod(a, d), p) == FloorModulo(x, d));
  });
}

RC_GTEST_PROP(IndexExpr, SubstitutionIsEvaluationInSteps, (uint64_t seed)) {
  Random random(seed);
  const IndexExpr outer = test::RandomIndex(random, kVariables, 3);
  std::vector<IndexExpr> inner;
  for (int v = 0; v < kVariables; ++v) inner.push_back(test::RandomIndex(random, kVariables, 2));
  const IndexExpr both = Substitute(outer, std::span<const IndexExpr>(inner));
  ForEachPoint([&](const std::vector<int64_t>& p) {
    std::vector<int64_t> between;
    for (const IndexExpr& e : inner) between.push_back(Evaluate(e, p));
    RC_ASSERT(Evaluate(both, p) == Evaluate(outer, between));
  });
}

TEST(IndexExpr, PrintsMod) {
  const IndexExpr i = IndexExpr::Var(VarId(0));
  const IndexExpr j = IndexExpr::Var(VarId(1));
  EXPECT_EQ(PrintIndex(IndexExpr::Mod(j, 8), kNames), "j mod 8");
  EXPECT_EQ(PrintIndex(i * 8 + IndexExpr::Mod(j, 8), kNames), "8*i + (j mod 8)");
  EXPECT_EQ(PrintIndex(IndexExpr::Mod(i + j + 3, 4) * 2, kNames), "2*((i + j + 3) mod 4)");
  EXPECT_EQ(PrintIndex(IndexExpr::Mod(IndexExpr::FloorDiv(j, 8), 4), kNames), "floor(j/8) mod 4");
  EXPECT_EQ(PrintIndex(IndexExpr::FloorDiv(j + 3, 4), kNames), "floor((j + 3)/4)");
  EXPECT_EQ(PrintIndex(-i - 1, kNames), "-i - 1");
  EXPECT_EQ(PrintIndex(IndexExpr::Loaded(2) + 1, kNames), "@2 + 1");
  EXPECT_EQ(PrintIndex(0, kNames), "0");
}

TEST(IndexExpr, NormalFormsOfEqualTextsAreEqual) {
  EXPECT_EQ(*Parse("i + j - i"), *Parse("j"));
  EXPECT_EQ(*Parse("floor((4*i + 8*j + 3)/4)"), *Parse("i + 2*j"));
  EXPECT_EQ(*Parse("floor(floor(i/2)/3)"), *Parse("floor(i/6)"));
  EXPECT_EQ(*Parse("(i mod 8) - i"), *Parse("-8*floor(i/8)"));
  EXPECT_EQ(*Parse("floor((2*i + 4)/6)"), *Parse("floor((i + 2)/3)"));
}

TEST(IndexExpr, SimplifiesByRanges) {
  const auto simplified = [](std::string_view text) {
    return PrintIndex(Simplify(*Parse(text), RangeOf), kNames);
  };
  EXPECT_EQ(simplified("floor((16*i + k)/16)"), "i");
  EXPECT_EQ(simplified("(16*i + k) mod 16"), "k");
  EXPECT_EQ(simplified("floor(k/16)"), "0");
  EXPECT_EQ(simplified("floor(k/8)"), "floor(k/8)");
}

TEST(IndexExpr, RejectsWithAPlace) {
  const auto error = [](std::string_view text) { return Parse(text).error().Format(); };
  EXPECT_EQ(error("i * j"), "index:1:5: error: a product in an index needs a constant factor");
  EXPECT_EQ(error("i + x"), "index:1:5: error: no variable is called x here");
  EXPECT_EQ(error("i mod 0"), "index:1:7: error: divisor 0, expected a positive one");
  EXPECT_EQ(error("floor(i)"), "index:1:8: error: expected '/', found ')'");
  EXPECT_EQ(error("i +"),
            "index:1:4: error: expected an index expression, found the end of the text");
  EXPECT_EQ(error("@3"), "index:1:1: error: @3 is not a read above");
  EXPECT_EQ(error("99999999999999999"),
            "index:1:1: error: 99999999999999999 is too large for an index");
  EXPECT_FALSE(Parse(std::string(100000, '(')).has_value());
}

}  // namespace
}  // namespace tunec
