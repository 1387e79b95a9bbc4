// Tests of the matcher and the rewriter of rules, on small graphs.
#include <gtest/gtest.h>

#include "graph/passes/rewrite.h"
#include "graph/rules/parse_rules.h"
#include "graph/text/graph_text.h"

namespace tunec {
namespace {

Result<Graph> Apply(const std::string& rules, const std::string& body,
                    FloatRules float_rules = FloatRules::kStrict) {
  TUNEC_ASSIGN(std::vector<Rule> parsed, ParseRules(rules, "my.rules"));
  TUNEC_ASSIGN(const Graph graph, ParseGraph("graph g {\n" + body + "}\n", "g.graph", NoWeights()));
  PassOptions options;
  options.rules = float_rules;
  TUNEC_ASSIGN(Graph result, ApplyRules(graph, RuleSet(std::move(parsed)), options));
  TUNEC_RETURN_IF_ERROR(Verify(result));
  return result;
}

// Applies the rules. Returns a line for each constant and node of the result, or the error's text.
// The line of a node has no type.
std::string Lines(const std::string& rules, const std::string& body,
                  FloatRules float_rules = FloatRules::kStrict) {
  const auto result = Apply(rules, body, float_rules);
  if (!result) return result.error().Format();
  std::string text = Print(*result);
  std::string lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("  ") && !line.starts_with("  input") && !line.starts_with("  output"))
      lines +=
          (line.starts_with("  constant") ? line.substr(2) : line.substr(2, line.rfind(':') - 2)) +
          "\n";
  }
  return lines;
}

constexpr const char* kInputs = "  input x: f32[4]\n  input y: f32[4]\n";

TEST(ApplyRules, RepeatedVariablesAreOneValue) {
  const std::string rule = "sub(x, x) => x * 0";
  EXPECT_EQ(Lines(rule, std::string(kInputs) + "  z = sub(x, y)\n  output z\n"), "z = sub(x, y)\n");
  EXPECT_EQ(Lines(rule, std::string(kInputs) + "  z = sub(y, y)\n  output z\n"),
            "constant z_constant: f32[] = 0.0\nz = mul(y, z_constant)\n");
}

TEST(ApplyRules, ConstantsAreJoinedWhereTheTypeHoldsTheResult) {
  const std::string rule = "x * a * b => x * (a * b) where constant(a) and constant(b)";
  const auto fires_with = [&](const std::string& type, const std::string& a,
                              const std::string& type_of_b, const std::string& b) {
    const std::string lines = Lines(rule, "  input x: " + type + "\n  constant a: " + type + " = " +
                                              a + "\n  constant b: " + type_of_b + " = " + b +
                                              "\n  y = mul(x, a)\n  z = mul(y, b)\n  output z\n");
    return !lines.contains("y = mul(x, a)");
  };
  const auto fires = [&](const std::string& type, const std::string& a, const std::string& b) {
    return fires_with(type, a, type, b);
  };
  EXPECT_TRUE(fires("f16[]", "0.5", "0.25"));
  EXPECT_FALSE(fires("f16[]", "300", "300")) << "infinite";
  EXPECT_FALSE(fires("f16[]", "0.0001", "0.0001")) << "0";
  EXPECT_FALSE(fires("f16[]", "0.0003", "0.003")) << "denormal";
  EXPECT_TRUE(fires("f32[]", "0.0001", "0.0001"));
  EXPECT_FALSE(fires("f32[]", "1e-30", "1e-30"));
  EXPECT_TRUE(fires("f16[]", "0.0", "0.0001"));
  EXPECT_FALSE(fires("f16[2]", "[1, 0.0001]", "[1, 0.0001]")) << "the factor of a channel";
  EXPECT_TRUE(fires("f16[2, 2]", "[1, 0.0001, 1, 1]", "[1, 0.0001, 1, 1]")) << "a small weight";
  // The second constant is broadcast.
  EXPECT_TRUE(fires_with("f16[2, 2]", "[1, 0.0001, 1, 1]", "f16[2]", "[1, 0.0001]"));
  EXPECT_FALSE(fires_with("f16[2, 2]", "[1, 0.0001, 1, 0.0001]", "f16[2]", "[1, 0.0001]"));
  EXPECT_TRUE(fires_with("f16[2, 2]", "[1, 1, 0.0001, 1]", "f16[2, 1]", "[1, 0.0001]"));
  EXPECT_FALSE(fires_with("f16[2, 2]", "[1, 1, 0.0001, 0.0001]", "f16[2, 1]", "[1, 0.0001]"));
  EXPECT_FALSE(fires_with("f16[2, 2]", "[1, 1, 0.0001, 0.0001]", "f16[]", "0.0001"));
}

TEST(ApplyRules, OperandsOfCommutativeOperatorsMatchInAnyOrder) {
  const std::string rule = "neg(x) * exp(y) => sub(x, y)";
  for (const char* product : {"mul(a, b)", "mul(b, a)"})
    EXPECT_EQ(Lines(rule, std::string(kInputs) + "  a = neg(x)\n  b = exp(y)\n  z = " + product +
                              "\n  output z\n"),
              "z = sub(x, y)\n");
  EXPECT_EQ(
      Lines("neg(x) - exp(y) => sub(x, y)",
            std::string(kInputs) + "  a = neg(x)\n  b = exp(y)\n  z = sub(b, a)\n  output z\n"),
      "a = neg(x)\nb = exp(y)\nz = sub(b, a)\n");
}

// The matcher undoes a choice of operands that fails later. Here y must be the operand of log.
TEST(ApplyRules, TheSearchGoesBack) {
  EXPECT_EQ(
      Lines("(exp(y) + exp(x)) * log(y) => x - y",
            std::string(kInputs) + "  a = exp(x)\n  b = exp(y)\n  s = add(a, b)\n  l = log(y)\n"
                                   "  z = mul(l, s)\n  output z\n"),
      "z = sub(x, y)\n");
}

TEST(ApplyRules, ConditionsChooseAmongTheMatches) {
  const std::string body = "  input x: f32[4]\n  input s: f32[]\n  z = mul(s, x)\n  output z\n";
  EXPECT_EQ(Lines("a * b => a / b where rank(b) == 0", body), "z = div(x, s)\n");
}

TEST(ApplyRules, AChainMatchesInEveryNesting) {
  const std::string rule = "add(exp(x), log(x), y, 1) => x * y";
  const std::string head =
      std::string(kInputs) + "  constant one: f32[] = 1\n  a = exp(x)\n  b = log(x)\n";
  for (const char* sums : {"  p = add(a, b)\n  q = add(p, y)\n  z = add(q, one)\n",
                           "  p = add(one, a)\n  q = add(y, b)\n  z = add(p, q)\n",
                           "  p = add(b, one)\n  q = add(y, p)\n  z = add(a, q)\n"})
    EXPECT_EQ(Lines(rule, head + sums + "  output z\n"), "z = mul(x, y)\n");
}

TEST(ApplyRules, InnerNodesWithOtherUsersStay) {
  const std::string body = std::string(kInputs) +
                           "  a = exp(x)\n  b = neg(a)\n  c = mul(a, y)\n  output b\n  output c\n";
  const std::string unchanged = "a = exp(x)\nb = neg(a)\nc = mul(a, y)\n";
  EXPECT_EQ(Lines("neg(exp(x)) => sin(x)", body), unchanged);
  EXPECT_EQ(Lines("r [shared]: neg(exp(x)) => sin(x)", body),
            "a = exp(x)\nb = sin(x)\nc = mul(a, y)\n");
  // A value inside the match may have several users if all of them are inside the match.
  EXPECT_EQ(
      Lines("e@exp(x) / neg(e) => sin(x)",
            std::string(kInputs) + "  a = exp(x)\n  b = neg(a)\n  z = div(a, b)\n  output z\n"),
      "z = sin(x)\n");
  // A graph output counts as a user outside the match.
  EXPECT_EQ(Lines("neg(exp(x)) => sin(x)",
                  std::string(kInputs) + "  a = exp(x)\n  b = neg(a)\n  output a\n  output b\n"),
            "a = exp(x)\nb = neg(a)\n");
}

// Both rules apply within one sweep, in the order of the nodes.
TEST(ApplyRules, TwoRulesApplyWithinOneSweep) {
  EXPECT_EQ(Lines("neg(exp(x)) => sin(x)\nsub(v, v) => cos(v)\n",
                  std::string(kInputs) +
                      "  a = exp(x)\n  b = sub(y, y)\n  c = neg(a)\n  z = add(b, c)\n  output z\n"),
            "b = cos(y)\nc = sin(x)\nz = add(b, c)\n");
}

TEST(ApplyRules, NumbersInPatterns) {
  const auto product = [](const std::string& constant) {
    return std::string(kInputs) + "  constant c: " + constant + "\n  z = mul(x, c)\n  output z\n";
  };
  const std::string fired = "z = neg(x)\n";
  EXPECT_EQ(Lines("x * 2 => neg(x)", product("f32[] = 2")), fired);
  EXPECT_EQ(Lines("x * 2 => neg(x)", product("f32[4] = [2, 2, 2, 2]")), fired);
  EXPECT_NE(Lines("x * 2 => neg(x)", product("f32[4] = [2, 2, 2, 3]")), fired);
  EXPECT_NE(Lines("x * 2 => neg(x)", product("f32[] = 2.0001")), fired);
  EXPECT_EQ(Lines("x * ~2 => neg(x)", product("f32[] = 2.0001")), fired);
  EXPECT_NE(Lines("x * ~2 => neg(x)", product("f32[] = 2.001")), fired);
  EXPECT_NE(Lines("x * 0 => neg(x)", product("f32[] = -0.0")), fired);
  EXPECT_EQ(Lines("x * c => neg(x) where 1 < value(c) <= 2", product("f32[] = 2")), fired);
  EXPECT_NE(Lines("x * c => neg(x) where 1 < value(c) < 2", product("f32[] = 2")), fired);
  // A constant with different elements has no value(c). A comparison with value(c) then fails, also
  // behind `not`.
  EXPECT_NE(Lines("x * c => neg(x) where not value(c) == 7", product("f32[4] = [1, 2, 3, 4]")),
            fired);
}

TEST(ApplyRules, NumbersInReplacements) {
  EXPECT_EQ(Lines("mul(x, c) => x * number(value(c) * 2 + 1)",
                  "  input x: f32[4]\n  constant c: f32[] = 1.5\n  z = mul(x, c)\n  y = neg(z)\n"
                  "  output y\n")
                .substr(0, 7),
            "my.rule");  // does not terminate
  EXPECT_EQ(Lines("neg(x) / c => x / number(-value(c))",
                  "  input x: i16[4]\n  constant c: i16[] = 3\n  n = neg(x)\n  z = div(n, c)\n"
                  "  output z\n"),
            "constant z_constant: i16[] = -3\nz = div(x, z_constant)\n");
  // The rule does not apply, because -200 does not fit into i8.
  EXPECT_EQ(Lines("neg(x) / c => x / number(-200)",
                  "  input x: i8[4]\n  constant c: i8[] = 3\n  n = neg(x)\n  z = div(n, c)\n"
                  "  output z\n"),
            "constant c: i8[] = 3\nn = neg(x)\nz = div(n, c)\n");
}

TEST(ApplyRules, ConstantsAreComputed) {
  EXPECT_EQ(Lines("(x - a) - b => x - (a + b) where constant(a) and constant(b)",
                  "  input x: f32[2]\n  constant a: f32[2] = [1, 2]\n  constant b: f32[] = 3\n"
                  "  p = sub(x, a)\n  z = sub(p, b)\n  output z\n"),
            "constant z_constant: f32[2] = [4.0, 5.0]\nz = sub(x, z_constant)\n");
}

TEST(ApplyRules, AttributesBindAndAreCopied) {
  EXPECT_EQ(Lines("softmax(neg(x)){axis=a} => softmax(x){axis=a - 1}",
                  "  input x: f32[2, 3, 4]\n  n = neg(x)\n  z = softmax(n) {axis=2}\n  output z\n"),
            "z = softmax(x) {axis=1}\n");
  EXPECT_EQ(Lines("conv(neg(x), w, ..bias) => conv(x, w, ..bias){*out}",
                  "  input x: f32[1, 2, 4]\n  input w: f32[3, 1, 2]\n  input b: f32[3]\n"
                  "  input w1: f32[3, 2, 2]\n  n = neg(x)\n  m = neg(x)\n"
                  "  p = conv(m, w1, b)\n  z = conv(n, w1) {pads=[1, 1]}\n"
                  "  output z\n  output p\n"),
            "p = conv(x, w1, b) {dilations=[1], pads=[0, 0], strides=[1]}\n"
            "z = conv(x, w1) {dilations=[1], pads=[1, 1], strides=[1]}\n");
}

TEST(ApplyRules, AReplacementOfAnotherShapeDoesNotFire) {
  EXPECT_EQ(Lines("x + y => x",
                  "  input a: f32[4]\n  input b: f32[2, 4]\n  n = neg(a)\n  z = add(n, b)\n"
                  "  w = abs(z)\n  output w\n"),
            "n = neg(a)\nz = add(n, b)\nw = abs(z)\n");
  EXPECT_EQ(Lines("neg(x) => sqrt(x)", "  input x: i32[4]\n  z = neg(x)\n  output z\n"),
            "z = neg(x)\n");
}

TEST(ApplyRules, TheFirstRuleWins) {
  EXPECT_EQ(Lines("neg(exp(x)) => sin(x)\nneg(x) => cos(x)\n",
                  std::string(kInputs) + "  a = exp(x)\n  z = neg(a)\n  w = neg(y)\n  output z\n"
                                         "  output w\n"),
            "z = sin(x)\nw = cos(y)\n");
}

TEST(ApplyRules, FastMathIsACondition) {
  const std::string rule = "x / x => 1 where fast_math or (finite(x) and nonzero(x))";
  const std::string body = std::string(kInputs) + "  a = div(x, x)\n  z = neg(a)\n  output z\n";
  EXPECT_EQ(Lines(rule, body), "a = div(x, x)\nz = neg(a)\n");
  EXPECT_EQ(Lines(rule, body, FloatRules::kFast),
            "constant a_constant: f32[4] = [1.0, 1.0, 1.0, 1.0]\nz = neg(a_constant)\n");
}

// low(x) and high(x) are numbers of the type of x: 1.1 in bf16 is 1.1015625.
TEST(ApplyRules, BoundsAreRounded) {
  const auto clipped = [](const std::string& most) {
    return "  input b: bool[4]\n  constant c: bf16[] = 0.1\n  x = cast(b) {to=\"bf16\"}\n"
           "  s = sigmoid(x)\n  a = add(s, c)\n  z = clip(a) {min=0.0, max=" +
           most + "}\n  y = neg(z)\n  output y\n";
  };
  const std::string rule = "clip(x){min=l, max=m} => x where low(x) >= l and high(x) <= m";
  EXPECT_TRUE(Lines(rule, clipped("1.1")).contains("clip"));
  EXPECT_FALSE(Lines(rule, clipped("1.1015625")).contains("clip"));
}

// The rules are those of the section "Three examples" of docs/reference/rules.md.
TEST(ApplyRules, DocumentedExamples) {
  EXPECT_EQ(Lines("relu(x) => leaky_relu(x){alpha=0.1}",
                  std::string(kInputs) + "  z = relu(x)\n  output z\n"),
            "z = leaky_relu(x) {alpha=0.1}\n");
  EXPECT_EQ(Lines("quick_gelu: x * sigmoid(x * ~1.702) => gelu(x)",
                  std::string(kInputs) +
                      "  constant c: f32[] = 1.70203\n  a = mul(c, x)\n  b = sigmoid(a)\n"
                      "  z = mul(b, x)\n  output z\n"),
            "z = gelu(x)\n");
  const std::string matvec =
      "matvec: matmul(x, w) => reduce_sum(x * reshape(w){shape=[dim(w, 0)]})"
      "{axes=[rank(x) - 1], keepdims=1}\n"
      "  where rank(w) == 2 and dim(w, 1) == 1 and out.transpose_a == 0 and out.transpose_b == 0\n";
  EXPECT_EQ(
      Lines(matvec, "  input x: f32[2, 4]\n  input w: f32[4, 1]\n  z = matmul(x, w)\n  output z\n"),
      "reshape = reshape(w) {shape=[4]}\nmul = mul(x, reshape)\n"
      "z = reduce_sum(mul) {axes=[1]}\n");
  EXPECT_EQ(
      Lines(matvec, "  input x: f32[2, 4]\n  input w: f32[4, 2]\n  z = matmul(x, w)\n  output z\n"),
      "z = matmul(x, w)\n");
}

TEST(ApplyRules, RulesWithoutEndAreErrors) {
  const std::string body = std::string(kInputs) + "  z = add(x, y)\n  w = neg(z)\n  output w\n";
  EXPECT_EQ(
      Lines("# comment\nswap: a + b => b + a", body),
      "my.rules:2:1: error: rule swap goes on changing the graph, expected rules that come to "
      "an end");
  EXPECT_EQ(Lines("grow: neg(a) => neg(neg(neg(a)))", body).substr(0, 26),
            "my.rules:1:1: error: rule ");
}

}  // namespace
}  // namespace tunec
