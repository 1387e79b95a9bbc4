// Tests of the verification of passes. It must find the faults of planted passes.
#include "graph/passes/verify_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/random_inputs.h"
#include "graph/text/graph_text.h"
#include "graph/text/weights.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConvNorm = R"(graph g {
  input x: f32[1, 3, 8, 8]
  weight w: f32[4, 3, 3, 3]
  weight scale: f32[4]
  weight bias: f32[4]
  weight mean: f32[4]
  weight variance: f32[4]
  c = conv(x, w)
  n = batch_norm(c, scale, bias, mean, variance)
  y = relu(n)
  output y
})";

Graph ConvNorm() {
  auto graph = ParseGraph(kConvNorm, "g.graph", RandomWeights(1));
  EXPECT_TRUE(graph) << graph.error().Format();
  return std::move(*graph);
}

std::vector<InputSet> Inputs(const Graph& graph, int count) {
  std::vector<InputSet> sets;
  for (int seed = 0; seed < count; ++seed)
    sets.push_back(*RandomInputs(graph, static_cast<uint64_t>(seed)));
  return sets;
}

Result<std::vector<PassAnswers>> Check(const Graph& graph, NamedPass pass) {
  return VerifyPasses(graph, std::span<const NamedPass>(&pass, 1), Inputs(graph, 2));
}

TEST(VerifyPasses, FourAnswersAboutFolding) {
  const Graph graph = ConvNorm();
  const std::vector<std::string> names = {"fold_batch_norm", "canonicalize"};
  const auto answers = VerifyPasses(graph, names, Inputs(graph, 3));
  ASSERT_TRUE(answers) << answers.error().Format();
  ASSERT_EQ(answers->size(), 3U);
  const PassAnswers& all = answers->back();
  EXPECT_EQ(all.pass, "(all)");
  EXPECT_EQ(all.inputs, 3);
  EXPECT_EQ(all.nodes_before, 3);
  EXPECT_EQ(all.nodes_after, 2);
  EXPECT_EQ(all.parameters_before, 4 * 27 + 8);
  EXPECT_EQ(all.parameters_after, 4 * 27 + 4);
  EXPECT_GT(all.error, 0);  // the folded weights are rounded to float32
  EXPECT_TRUE(all.IsRight(1e-6)) << all.error;
}

TEST(VerifyPasses, WrongNumbersAreFound) {
  const auto drops_relu = [](const Graph& graph, const PassOptions&) {
    return Rebuild(graph, [](const Node& node, const std::vector<ValueId>& inputs, GraphBuilder&) {
      return node.op == Op::kRelu ? std::vector<ValueId>{inputs[0]} : std::vector<ValueId>{};
    });
  };
  const auto answers = Check(ConvNorm(), {"drops_relu", "", drops_relu});
  ASSERT_TRUE(answers) << answers.error().Format();
  EXPECT_FALSE(answers->front().IsRight(1e-4));
  EXPECT_EQ(answers->front().worst_output, "y");
  EXPECT_EQ(answers->front().lint, "");
}

TEST(VerifyPasses, AChangeOfWeightsAloneIsFound) {
  const auto doubles = [](const Graph& graph, const PassOptions&) {
    return Rebuild(graph,
                   [](const Node& node, const std::vector<ValueId>&,
                      GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                     if (node.op != Op::kConstant || node.name != "w")
                       return std::vector<ValueId>{};
                     Array twice(node.constant.type(), node.constant.shape());
                     for (int64_t i = 0; i < twice.size(); ++i)
                       twice.SetDouble(i, 2 * node.constant.GetDouble(i));
                     return std::vector{builder.AddConstant("w", twice, node.weight_name)};
                   });
  };
  const auto answers = Check(ConvNorm(), {"doubles", "", doubles});
  ASSERT_TRUE(answers) << answers.error().Format();
  EXPECT_FALSE(answers->front().IsRight(1e-4));
}

TEST(VerifyPasses, AnotherInterfaceIsFound) {
  const auto casts = [](const Graph& graph, const PassOptions&) -> Result<Graph> {
    return Rebuild(graph,
                   [](const Node& node, const std::vector<ValueId>& inputs,
                      GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                     if (node.op != Op::kRelu) return std::vector<ValueId>{};
                     return builder.AddNode(Op::kCast, inputs, {{"to", std::string("f64")}}, "y");
                   });
  };
  const auto answers = Check(ConvNorm(), {"casts", "", casts});
  ASSERT_TRUE(answers) << answers.error().Format();
  EXPECT_THAT(answers->front().lint, HasSubstr("output y is f64 1x4x6x6, was f32 1x4x6x6"));
  EXPECT_FALSE(answers->front().IsRight(1));
}

TEST(VerifyPasses, ABrokenGraphIsFoundAndEndsTheRun) {
  const auto breaks = [](const Graph& graph, const PassOptions&) -> Result<Graph> {
    GraphBuilder builder(graph.name());
    const ValueId x = *builder.AddInput("x", graph.value(graph.inputs()[0]).type);
    builder.AddOutput(x, "y");
    builder.AddOutput(x, "y");
    return std::move(builder).Build();
  };
  const NamedPass passes[] = {{"breaks", "", breaks}, {"breaks", "", breaks}};
  const Graph graph = ConvNorm();
  const auto answers = VerifyPasses(graph, passes, Inputs(graph, 1));
  ASSERT_TRUE(answers) << answers.error().Format();
  ASSERT_EQ(answers->size(), 1U);
  EXPECT_THAT(answers->front().lint, HasSubstr("output"));
}

TEST(VerifyPasses, UnknownAndFailingPassesAreErrors) {
  const Graph graph = ConvNorm();
  const std::vector<std::string> unknown = {"no_such"};
  EXPECT_EQ(VerifyPasses(graph, unknown, Inputs(graph, 1)).error().message,
            "unknown pass 'no_such'");
  const auto fails = [](const Graph&, const PassOptions&) -> Result<Graph> {
    return Fail(ErrorCode::kUnsupported, "not today");
  };
  EXPECT_EQ(Check(graph, {"fails", "", fails}).error().message, "pass fails: not today");
}

}  // namespace
}  // namespace tunec
