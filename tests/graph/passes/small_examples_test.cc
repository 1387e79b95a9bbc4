// Tests of the small examples. The passes must preserve their results. The counts of nodes and
// parameters are those of examples/README.md.
#include <gtest/gtest.h>

#include "graph/count_graph.h"
#include "graph/passes/pipeline.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "tests/graph/lower/run_lowered.h"

namespace tunec {
namespace {

struct Counts {
  int64_t nodes = 0;
  int64_t parameters = 0;
  bool operator==(const Counts&) const = default;
};
void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.nodes << " nodes, " << counts.parameters << " parameters";
}

Counts CountsOf(const Graph& graph) {
  const auto counts = CountGraph(graph);
  EXPECT_TRUE(counts) << counts.error().Format();
  return counts ? Counts{counts->nodes, counts->parameters} : Counts();
}

Result<Graph> ReadExample(const std::string& name) {
  return ReadGraphFile(
      std::filesystem::path(TUNEC_TEST_DATA) / "../examples/small" / (name + ".graph"), 1);
}

Graph AfterPasses(const Graph& graph) {
  auto result = RunPipeline(graph);
  EXPECT_TRUE(result) << result.error().Format();
  return result ? std::move(result->graph) : graph;
}

struct Example {
  const char* name;
  Counts before, after;
};

TEST(SmallExamples, CountsAndNumbers) {
  const Example examples[] = {
      {"residual_block", {8, 8320}, {6, 8320}},   // removes transposes of weights
      {"tiny_model", {4, 15}, {3, 15}},           // removes a transpose of a weight
      {"unoptimised", {9, 0}, {5, 0}},            // removes 2 * 3, the second relu, * 1 and exp
      {"gelu_primitives", {9, 0}, {1, 0}},        // makes one gelu
      {"multi_conv_bn", {6, 19584}, {4, 19392}},  // folds two batch normalisations
      {"resnet_block", {8, 90880}, {5, 90496}},   // folds three batch normalisations into biases
      {"linear_relu", {6, 49472}, {6, 49472}},   {"matmul_add_relu", {3, 0}, {3, 0}},
  };
  for (const Example& example : examples) {
    SCOPED_TRACE(example.name);
    const auto before = ReadExample(example.name);
    ASSERT_TRUE(before) << before.error().Format();
    const Graph after = AfterPasses(*before);
    EXPECT_EQ(CountsOf(*before), example.before);
    EXPECT_EQ(CountsOf(after), example.after);
    Random random(11);
    const std::vector<Array> inputs = RandomInputs(*before, random);
    const auto expected = RunReference(*before, inputs);
    const auto actual = RunReference(after, inputs);
    ASSERT_TRUE(expected && actual);
    EXPECT_LE(RelativeError((*actual)[0], (*expected)[0]), 1e-5);
  }
}

// Applies four passes to the unoptimised model and compares the operators that remain.
TEST(SmallExamples, UnoptimisedStepByStep) {
  const auto graph = ReadExample("unoptimised");
  ASSERT_TRUE(graph) << graph.error().Format();
  PipelineOptions options;
  options.names = {"fold_constants", "eliminate_dead_nodes", "merge_common_nodes", "canonicalize"};
  const auto result = RunPipeline(*graph, options);
  ASSERT_TRUE(result) << result.error().Format();
  std::vector<std::string> ops;
  for (const Node& node : result->graph.nodes())
    if (KindOf(node.op) != OpKind::kData) ops.emplace_back(Name(node.op));
  EXPECT_EQ(ops, (std::vector<std::string>{"relu", "mul", "add", "relu", "add"}));
}

}  // namespace
}  // namespace tunec
