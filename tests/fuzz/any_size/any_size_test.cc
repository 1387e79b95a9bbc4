// Tests of the check of random dynamic-shape models against the reference.
#include <gtest/gtest.h>

#include "tests/fuzz/any_size/check_any_size.h"
#include "tests/fuzz/any_size/open_model.h"

namespace tunec::fuzz {
namespace {

class AnySizeRegression : public ::testing::TestWithParam<uint64_t> {};

TEST_P(AnySizeRegression, EqualsTheReference) {
  const CheckResult checked = CheckAnySize(GetParam());
  EXPECT_NE(checked.outcome, Outcome::kWrong) << checked.reason;
}

// Models of even seeds have one dimension, those of odd seeds have two.
INSTANTIATE_TEST_SUITE_P(Fuzz, AnySizeRegression, ::testing::Values(15, 48, 66, 86, 137, 201));

TEST(OpenModel, MostHaveAGraphAtEachSize) {
  int models = 0, graphs = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const SizedSource source = OpenModel(seed);
    models += source.open.empty() ? 0 : 1;
    for (const Sizes& sizes : DrawRuns(seed, source.dimensions.size()).runs)
      graphs += source.graph_at(sizes) ? 1 : 0;
  }
  EXPECT_GT(models, 95);
  EXPECT_GT(graphs, 450);
}

// The graphs for comparison double the outputs of the model's graphs, so most results differ.
TEST(CheckAnySize, FindsWhatIsWrong) {
  int wrong = 0, checked = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const SizedSource source = OpenModel(seed);
    if (source.open.empty()) continue;
    SizedSource other = source;
    other.graph_at = [&source](const Sizes& sizes) -> Result<Graph> {
      TUNEC_ASSIGN(const Graph graph, source.graph_at(sizes));
      return Rebuild(graph,
                     [&](const Node& node, const std::vector<ValueId>& inputs,
                         GraphBuilder& to) -> Result<std::vector<ValueId>> {
                       if (!graph.IsOutput(node.outputs[0])) return {};
                       TUNEC_ASSIGN(const auto copies, to.CopyNode(graph, node, inputs));
                       TUNEC_ASSIGN(const ValueId twice, to.Add(Op::kAdd, {copies[0], copies[0]}));
                       return std::vector<ValueId>{twice};
                     });
    };
    const SizedRuns runs = DrawRuns(seed, source.dimensions.size());
    const CheckResult result = CheckAnySize(source, runs, seed, other);
    ++checked;
    wrong += result.outcome == Outcome::kWrong ? 1 : 0;
  }
  EXPECT_GT(wrong, checked * 3 / 4);
}

}  // namespace
}  // namespace tunec::fuzz
