#include "compiler/sized/worth_joining.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/random_inputs.h"
#include "graph/text/graph_text.h"

namespace tunec {
namespace {

/// Returns a product of `rows` rows with a square matrix, which is a weight or the second input.
Graph ProductOf(int64_t rows, bool is_weight) {
  const std::string matrix =
      is_weight ? "weight w: f32[1024, 1024] from \"w\"" : "input w: f32[1024, 1024]";
  const std::string text = "graph g {\n  input x: f32[" + std::to_string(rows) + ", 1024]\n  " +
                           matrix + "\n  y = matmul(x, w)\n  output y\n}\n";
  Result<Graph> graph = ParseGraph(text, "test", RandomWeights(1));
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

TEST(WorthJoining, MoreRowsNeedFewerJoinedRuns) {
  const FusionMachine machine;
  int64_t before = 257;
  for (const int64_t rows : {1, 4, 16}) {
    const int64_t joined = WorthJoining(ProductOf(rows, true), {}, machine);
    EXPECT_LT(joined, before) << rows;
    before = joined;
  }
  EXPECT_EQ(WorthJoining(ProductOf(1024, true), {}, machine), 1);
}

// Each run packs a weight that is an input.
TEST(WorthJoining, WeightsMayBeInputs) {
  const FusionMachine machine;
  const Graph graph = ProductOf(16, false);
  const std::vector<ValueId> shared = {graph.inputs()[1]};
  EXPECT_GT(WorthJoining(graph, shared, machine), WorthJoining(ProductOf(16, true), {}, machine));
  EXPECT_LT(WorthJoining(graph, {}, machine), WorthJoining(graph, shared, machine));
}

}  // namespace
}  // namespace tunec
