// Tests of graphs for which the fuzzer found errors, and tests of the graph generator, of a plan's
// text, and of Shrink, which reduces a failing graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "graph/passes/eliminate_dead_nodes.h"
#include "graph/passes/pipeline.h"
#include "graph/text/graph_text.h"
#include "support/file.h"
#include "tests/fuzz/check_graph.h"
#include "tests/fuzz/graph_generator.h"
#include "tests/fuzz/shrink_graph.h"

namespace tunec::fuzz {
namespace {

std::string PlanLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Returns the given plan, and default pipelines with both fusion modes and lowerings 0 and 1.
std::vector<CheckPlan> PlansFor(const CheckPlan& found) {
  std::vector<CheckPlan> plans = {found};
  for (const FusionMode fusion : {FusionMode::kFused, FusionMode::kUnfused}) {
    for (const size_t lowering : {0, 1}) {
      CheckPlan plan = found;
      plan.passes = DefaultPipeline();
      plan.fusion = fusion;
      plan.lowering = lowering;
      plan.code = fusion == FusionMode::kFused && lowering == 0;
      plans.push_back(plan);
    }
  }
  return plans;
}

class Regression : public ::testing::TestWithParam<std::string> {};

TEST_P(Regression, EqualsTheReference) {
  const std::filesystem::path path =
      std::filesystem::path(TUNEC_TEST_DATA) / "regressions" / GetParam();
  const auto text = ReadFile(path);
  ASSERT_TRUE(text) << text.error().Format();
  const auto plan = ParsePlan(PlanLine(*text));
  ASSERT_TRUE(plan) << plan.error().Format();
  const auto graph = ParseGraph(*text, GetParam(), NoWeights());
  ASSERT_TRUE(graph) << graph.error().Format();
  for (const CheckPlan& each : PlansFor(*plan)) {
    const CheckResult result = CheckGraph(*graph, each);
    EXPECT_NE(result.outcome, Outcome::kWrong) << Print(each) << "\n" << result.reason;
  }
}

std::vector<std::string> Regressions() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(TUNEC_TEST_DATA) / "regressions"))
    if (entry.path().extension() == ".graph") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Regression, ::testing::ValuesIn(Regressions()), TestName);

TEST(GraphGenerator, HasARecipeForEveryOperator) {
  std::map<Op, int> rows;
  for (const Recipe& recipe : Recipes()) {
    rows[recipe.op] += 1;
    EXPECT_NE(recipe.draw == nullptr, recipe.left_out.empty())
        << Name(recipe.op) << " needs either a recipe or a reason";
  }
  for (const Op op : kAllOps) EXPECT_EQ(rows[op], 1) << Name(op) << " needs one row in recipes.cc";
}

TEST(GraphGenerator, DrawsEveryOperator) {
  std::map<Op, int> drawn;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const Graph graph = GraphGenerator(seed).Make();
    for (const Node& node : graph.nodes()) drawn[node.op] += 1;
  }
  for (const Recipe& recipe : Recipes()) {
    EXPECT_TRUE(recipe.draw == nullptr || drawn[recipe.op] > 20) << Name(recipe.op);
  }
}

TEST(GraphGenerator, OneSeedMakesOneGraph) {
  for (uint64_t seed = 1; seed <= 50; ++seed)
    EXPECT_EQ(Print(GraphGenerator(seed).Make()), Print(GraphGenerator(seed).Make()));
  EXPECT_NE(Print(GraphGenerator(1).Make()), Print(GraphGenerator(2).Make()));
}

TEST(CheckPlan, ReadsWhatItPrints) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const CheckPlan plan = DrawPlan(seed, Values::kSpecial, seed % 2 == 0);
    const auto parsed = ParsePlan(Print(plan));
    ASSERT_TRUE(parsed) << parsed.error().Format();
    EXPECT_EQ(*parsed, plan);
  }
  EXPECT_FALSE(ParsePlan("# seed 4"));
}

// In this test, each graph with a tanh counts as failing.
TEST(Shrink, KeepsWhatFails) {
  const auto has_tanh = [](const Case& candidate) {
    return std::ranges::any_of(candidate.graph.nodes(),
                               [](const Node& node) { return node.op == Op::kTanh; });
  };
  int shrunk = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    // Reduction::Build removes nodes that no output depends on. None of these may be a tanh.
    auto graph = EliminateDeadNodes(GraphGenerator(seed).Make(), {});
    ASSERT_TRUE(graph) << graph.error().Format();
    const Case failing{*std::move(graph), DrawPlan(seed, Values::kOrdinary, false)};
    if (!has_tanh(failing)) continue;
    const Case small = Shrink(failing, has_tanh);
    EXPECT_TRUE(has_tanh(small));
    EXPECT_LE(small.graph.nodes().size(), failing.graph.nodes().size());
    EXPECT_EQ(small.graph.nodes().size(), 2u) << Print(small.graph);
    EXPECT_TRUE(small.plan.passes.empty());
    ++shrunk;
  }
  EXPECT_GT(shrunk, 5);
}

}  // namespace
}  // namespace tunec::fuzz
