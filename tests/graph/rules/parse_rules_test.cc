// Tests of the parser of rule files. Errors must name their positions.
#include "graph/rules/parse_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/source.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto rules = ParseRules(text, "my.rules");
  return rules ? "no error" : rules.error().Format();
}

TEST(ParseRules, NamesLinesAndChoices) {
  const auto rules = ParseRules(
      "# a comment\n"
      "relu(relu(x)) => relu(x)\n"
      "named: neg(neg(x)) => x   # another\n"
      "over_lines [shared]:\n  mul(x,\n      -1)\n  => neg(x)\n  where float(x)\n    and rank(x) < "
      "3\n"
      "pairs for f in (exp, log), g in (abs, neg): f(g(x)) => g(f(x))\n"
      "and(x, x) => x\nwhere(c, x, x) => x\n",
      "my.rules");
  ASSERT_TRUE(rules) << rules.error().Format();
  ASSERT_EQ(rules->size(), 9U);
  EXPECT_EQ((*rules)[0].name, "line 2");
  EXPECT_EQ((*rules)[1].name, "named");
  EXPECT_FALSE((*rules)[1].shared);
  EXPECT_TRUE((*rules)[2].shared);
  EXPECT_EQ((*rules)[2].where.line, 4);
  EXPECT_EQ((*rules)[4].pattern.op, Op::kLog);
  EXPECT_EQ((*rules)[5].pattern.operands[0].op, Op::kNeg);
  EXPECT_EQ((*rules)[7].pattern.op, Op::kAnd);
  const RuleSet set(*rules);
  EXPECT_EQ(set.For(Op::kExp).size(), 2U);
  EXPECT_TRUE(set.For(Op::kSin).empty());
}

TEST(ParseRules, InfixAndCallsAreTheSame) {
  const auto rules = ParseRules("-x * y + 1 / z => x\nneg(x) * y + 1 / z => x\n", "my.rules");
  ASSERT_TRUE(rules) << rules.error().Format();
  const RuleTerm& sum = (*rules)[0].pattern;
  EXPECT_EQ(sum.op, Op::kAdd);
  EXPECT_EQ(sum.operands[0].op, Op::kMul);
  EXPECT_EQ(sum.operands[0].operands[0].op, Op::kNeg);
  EXPECT_EQ((*rules)[1].pattern.operands[0].operands[0].op, Op::kNeg);
  EXPECT_EQ(sum.operands[1].op, Op::kDiv);
  EXPECT_EQ(sum.operands[1].operands[0].kind, RuleTerm::Kind::kNumber);
}

// Terms and expressions are trees, which are processed recursively, so their size is limited.
TEST(ParseRules, HaveSoManyParts) {
  const auto repeated = [](std::string_view part) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += part;
    return text;
  };
  constexpr std::string_view kTerm = "a term of more than 200 parts";
  constexpr std::string_view kExpression = "an expression of more than 200 parts";
  EXPECT_THAT(ErrorOf(repeated("(-")), HasSubstr(kTerm));
  EXPECT_THAT(ErrorOf(repeated("-")), HasSubstr(kTerm));
  EXPECT_THAT(ErrorOf("relu(x) => " + repeated("x + ") + "x"), HasSubstr(kTerm));
  EXPECT_THAT(ErrorOf(repeated("relu(")), HasSubstr(kTerm));
  for (const std::string_view part : {"not ", "(", "[", "-", "rank(x) + ", "rank(x) > 1 and "}) {
    EXPECT_THAT(ErrorOf("relu(x) => x where " + repeated(part) + "rank(x)"), HasSubstr(kExpression))
        << part;
  }
}

TEST(ParseRules, ErrorsHaveTheirPlace) {
  EXPECT_EQ(ErrorOf("relu(x) => rely(x)"),
            "my.rules:1:12: error: rely is no operator for a rule; did you mean relu?");
  EXPECT_EQ(ErrorOf("relu(x) => y"), "my.rules:1:12: error: the pattern does not bind y");
  EXPECT_EQ(ErrorOf("relu(x) => x where rank(y) > 1"),
            "my.rules:1:25: error: the pattern does not bind y");
  EXPECT_EQ(ErrorOf("relu(x, y) => x"),
            "my.rules:1:1: error: relu is given 2 operands, expected 1");
  EXPECT_EQ(ErrorOf("x => relu(x)"), "my.rules:1:1: error: the pattern is not an operator");
  EXPECT_EQ(ErrorOf("relu(x)"), "my.rules:1:8: error: expected '=>', found the end of the text");
  EXPECT_EQ(ErrorOf("relu(x) => x x"),
            "my.rules:1:14: error: expected the end of the rule, found 'x'");
  EXPECT_EQ(ErrorOf("relu(x) => x where ranks(x) > 1"),
            "my.rules:1:20: error: unknown function ranks");
  EXPECT_EQ(ErrorOf("relu(x) => x where x > 1"),
            "my.rules:1:20: error: x is a value of the graph; its number is value(x)");
  EXPECT_EQ(ErrorOf("clip(x){mim=0} => x"), "my.rules:1:9: error: clip has no attribute mim");
  EXPECT_EQ(ErrorOf("clip(x){min=\"0\"} => x"),
            "my.rules:1:13: error: clip attribute min is a string, expected a number");
  EXPECT_EQ(ErrorOf("clip(x){min=0, min=1} => x"),
            "my.rules:1:16: error: attribute min is given twice");
  EXPECT_EQ(ErrorOf("relu(x) => reshape(x)"),
            "my.rules:1:12: error: reshape needs the attribute shape");
  EXPECT_EQ(ErrorOf("relu(x) => relu(out)"),
            "my.rules:1:17: error: out is the replaced value and cannot be an operand");
  EXPECT_EQ(ErrorOf("relu(out) => out"),
            "my.rules:1:6: error: out is the name of the value of the pattern's root");
  EXPECT_EQ(ErrorOf("transpose(x){perm=x} => x"),
            "my.rules:1:19: error: x is an attribute here, but a value before");
  EXPECT_EQ(ErrorOf("(relu(x) | abs(y)) => x"),
            "my.rules:1:23: error: the pattern does not bind x");
  EXPECT_EQ(ErrorOf("r@relu(x) => x"),
            "my.rules:1:1: error: the pattern's root has the name out already");
  EXPECT_EQ(ErrorOf("relu(x) => y@relu(x)"),
            "my.rules:1:12: error: a replacement cannot name its parts with @");
  EXPECT_EQ(ErrorOf("x * ~2 => x * ~2"),
            "my.rules:1:15: error: a replacement needs the number itself, not ~");
  EXPECT_EQ(ErrorOf("if(x) => x"), "my.rules:1:1: error: if is no operator for a rule");
  EXPECT_EQ(ErrorOf("r [fast]: relu(x) => x"),
            "my.rules:1:4: error: expected 'shared', found 'fast'");
  EXPECT_EQ(ErrorOf("for f in (relu, rely): f(x) => x"),
            "my.rules:1:17: error: rely is no operator; did you mean relu?");
}

TEST(ParseRules, TheErrorShowsItsLine) {
  const std::string text = "# rules\nrelu(x) => rely(x)\n";
  const auto rules = ParseRules(text, "my.rules");
  ASSERT_FALSE(rules);
  EXPECT_EQ(FormatWithSource(rules.error(), text),
            "my.rules:2:12: error: rely is no operator for a rule; did you mean relu?\n"
            "    2 | relu(x) => rely(x)\n"
            "      |            ^");
}

}  // namespace
}  // namespace tunec
