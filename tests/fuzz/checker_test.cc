// Tests that OutputChecker accepts effects of rounding errors and no other differences.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "tests/fuzz/random_values.h"
#include "tests/fuzz/stable_reference.h"

namespace tunec::fuzz {
namespace {

struct Checked {
  Graph graph;
  std::vector<Array> inputs;
  std::vector<Array> expected;
  std::string Problem(const std::vector<Array>& outputs) const {
    return OutputChecker(graph, inputs, expected).Check(outputs);
  }
};

Checked Make(std::string_view text, std::vector<Array> inputs) {
  auto graph = ParseGraph(text, "test.graph", NoWeights());
  EXPECT_TRUE(graph) << graph.error().Format();
  auto expected = RunReference(*graph, inputs);
  EXPECT_TRUE(expected) << expected.error().Format();
  return {*std::move(graph), std::move(inputs), *std::move(expected)};
}

Array Of(const std::vector<double>& elements, DataType type = DataType::kF32) {
  Array array(type, {static_cast<int64_t>(elements.size())});
  for (size_t i = 0; i < elements.size(); ++i)
    array.SetDouble(static_cast<int64_t>(i), elements[i]);
  return array;
}

std::vector<Array> Changed(const std::vector<Array>& outputs, int64_t element, double value) {
  Array array(outputs[0].type(), outputs[0].shape());
  for (int64_t i = 0; i < array.size(); ++i)
    array.SetDouble(i, i == element ? value : outputs[0].GetDouble(i));
  return {array};
}

TEST(OutputChecker, AllowsRoundingsOnly) {
  const Checked c =
      Make("graph g {\n input x: f32[3]\n y = exp(x)\n output y\n }", {Of({0.3, 1, 2})});
  EXPECT_EQ(c.Problem(c.expected), "");
  EXPECT_EQ(c.Problem(Changed(c.expected, 1, std::exp(1.0) * (1 + 1e-7))), "");
  EXPECT_NE(c.Problem(Changed(c.expected, 1, std::exp(1.0) * (1 + 1e-5))), "");
  EXPECT_NE(c.Problem(Changed(c.expected, 1, NAN)), "");
}

TEST(OutputChecker, ExactOperationsHaveOneAnswer) {
  const Checked c =
      Make("graph g {\n input x: f32[3]\n y = add(x, x)\n z = lt(y, x)\n output z\n }",
           {Of({0.25, -1, 0})});
  EXPECT_EQ(c.Problem(c.expected), "");
  for (int64_t i = 0; i < 3; ++i) EXPECT_NE(c.Problem(Changed(c.expected, i, i == 1 ? 0 : 1)), "");
}

TEST(OutputChecker, ThresholdsNextToARoundingAreOpen) {
  const Checked c = Make(
      "graph g {\n input x: f32[2]\n constant third: f32[] = 3.0\n y = div(x, third)\n"
      " s = mul(y, third)\n z = lt(s, x)\n output z\n }",
      {Of({0.7, 1.9})});
  EXPECT_EQ(c.Problem(Changed(c.expected, 0, 1)), "");
  EXPECT_EQ(c.Problem(Changed(c.expected, 0, 0)), "");
}

TEST(OutputChecker, CancellationWidensTheTolerance) {
  const Checked c = Make(
      "graph g {\n input x: f32[1]\n constant e: f32[] = 1000.0\n t = sin(x)\n a = add(t, e)\n"
      " y = sub(a, e)\n output y\n }",
      {Of({0.7})});
  const double value = c.expected[0].GetDouble(0);
  EXPECT_EQ(c.Problem(Changed(c.expected, 0, value + 6e-5)), "");
  EXPECT_NE(c.Problem(Changed(c.expected, 0, value + 6e-3)), "");
}

TEST(OutputChecker, ARoundedMeanWidensANormalisation) {
  const Checked c = Make(
      "graph g {\n input x: f32[2]\n constant s: f32[2] = [1.0, 1.0]\n"
      " y = layer_norm(x, s) {axis=0, epsilon=1e-05}\n output y\n }",
      {Of({1000, 1001})});
  const double value = c.expected[0].GetDouble(0);
  EXPECT_EQ(c.Problem(Changed(c.expected, 0, value * (1 + 1e-4))), "");
  EXPECT_NE(c.Problem(Changed(c.expected, 0, value * (1 + 1e-2))), "");
}

TEST(OutputChecker, EqualFormulasMayBeEqual) {
  const Checked c = Make(
      "graph g {\n input x: f32[2]\n e = exp(x)\n l = log(e)\n y = eq(x, l)\n"
      " z = eq(x, e)\n output y\n output z\n }",
      {Of({3e-5, 1.3e-5})});
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(c.Problem({Changed(c.expected, i, 1)[0], c.expected[1]}), "");
    EXPECT_NE(c.Problem({c.expected[0], Changed({c.expected[1]}, i, 1)[0]}), "");
  }
}

TEST(OutputChecker, SpecialValuesMustAgree) {
  const Checked c =
      Make("graph g {\n input x: f32[3]\n y = neg(x)\n output y\n }", {Of({NAN, INFINITY, 1})});
  EXPECT_EQ(c.Problem(c.expected), "");
  EXPECT_NE(c.Problem(Changed(c.expected, 0, 0)), "");
  EXPECT_NE(c.Problem(Changed(c.expected, 1, INFINITY)), "");
  EXPECT_NE(c.Problem(Changed(c.expected, 2, NAN)), "");
}

}  // namespace
}  // namespace tunec::fuzz
