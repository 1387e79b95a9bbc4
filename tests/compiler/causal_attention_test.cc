// Tests of causal attention whose blocks of rows skip hidden columns. Machine code is compared with
// the reference. Some sizes are multiples of blocks, KV blocks and tiles, and some are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graph/compare_arrays.h"
#include "graph/reference.h"
#include "kernel/loop_pipeline.h"
#include "kernel/run_once.h"
#include "tests/compiler/models.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

using testing::GraphOf;
using testing::Options;
using testing::TaskOf;

struct Causal {
  int heads = 1, queries = 32, keys = 32, depth = 8, width = 16, offset = 0;
  int window = 0;
  std::string empty_rows = "nan";
};

void PrintTo(const Causal& c, std::ostream* out) {
  *out << fmt::format("{}x{}x{} {} {} offset {} window {}", c.heads, c.queries, c.keys, c.depth,
                      c.width, c.offset, c.window);
}

Graph GraphOf(const Causal& c) {
  return GraphOf(fmt::format(R"(graph causal {{
  input q: f32[{0}, {1}, {3}]
  input k: f32[{0}, {2}, {3}]
  input v: f32[{0}, {2}, {4}]
  y = attention(q, k, v) {{causal=1, causal_offset={5}, window={6}, empty_rows="{7}"}}
  output y
}})",
                             c.heads, c.queries, c.keys, c.depth, c.width, c.offset, c.window,
                             c.empty_rows));
}

std::vector<Array> InputsOf(const Graph& graph) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Array> inputs;
  for (const ValueId input : graph.inputs()) {
    const ValueType& type = graph.value(input).type;
    Array array(type.type, type.Shape());
    for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, uniform(random));
    inputs.push_back(std::move(array));
  }
  return inputs;
}

// Checks two schedules of each sketch whose lowering limits the columns of a block. One schedule
// has the initial decisions, and one has random ones. Returns the number of checked schedules.
int ExpectRight(const Graph& graph, const std::vector<Array>& inputs, const Array& expected) {
  const CompileOptions options = Options();
  const TuningTask task = TaskOf(graph, options);
  ThreadPool pool(2);
  std::mt19937 random(11);
  int checked = 0;
  for (const Sketch& sketch : SketchesFor({.lowerings = task.lowerings,
                              .target = options.target,
                              .rounding = RoundingFreedomFor(options.accuracy)})) {
    Decisions decisions = sketch.InitialDecisions();
    for (int i = 0; i < 2 && !::testing::Test::HasFailure(); ++i) {
      const Schedule schedule = sketch.Fill(decisions);
      if (!schedule.lowering.ends_with(",ends")) break;
      const Compute& compute = *FindLowering(task.lowerings, schedule.lowering);
      const auto loops = RunLoopPipeline(
          compute, schedule, {.rounding = ReductionOrder::kAny, .verify = VerifyStages::kEach});
      EXPECT_TRUE(loops) << loops.error().Format() << Print(schedule);
      if (!loops) break;
      const auto outputs = CompileAndRun(loops->nest, inputs, options.target, pool);
      EXPECT_TRUE(outputs) << outputs.error().Format();
      if (!outputs) break;
      const double difference = CompareOutput("y", outputs->front(), expected).absolute;
      EXPECT_LE(difference, 2e-6) << Print(schedule);
      ++checked;
      decisions = test::RandomDecisions(sketch, random);
    }
  }
  return checked;
}

class CausalAttention : public ::testing::TestWithParam<Causal> {};

TEST_P(CausalAttention, BlocksSeeTheirColumns) {
  const Graph graph = GraphOf(GetParam());
  const std::vector<Array> inputs = InputsOf(graph);
  const auto expected = RunReference(graph, inputs);
  ASSERT_TRUE(expected) << expected.error().Format();
  EXPECT_GT(ExpectRight(graph, inputs, expected->front()), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, CausalAttention,
    ::testing::Values(Causal{.heads = 2, .queries = 64, .keys = 64},
                      Causal{.heads = 2, .queries = 77, .keys = 77, .depth = 5, .width = 7},
                      Causal{.queries = 40, .keys = 24}, Causal{.queries = 40, .keys = 300},
                      Causal{.queries = 61, .keys = 256, .depth = 3, .offset = 195},
                      Causal{.queries = 50, .keys = 1280, .depth = 4, .width = 20, .offset = 600},
                      Causal{.queries = 90, .keys = 144, .offset = -3},
                      Causal{.queries = 90, .keys = 90, .offset = -14, .empty_rows = "zero"}));

INSTANTIATE_TEST_SUITE_P(
    Windows, CausalAttention,
    ::testing::Values(Causal{.heads = 2, .queries = 64, .keys = 64, .window = 5},
                      Causal{.heads = 2, .queries = 77, .keys = 77, .depth = 5, .window = 20},
                      Causal{.queries = 300, .keys = 300, .width = 7, .offset = 8, .window = 17},
                      Causal{.queries = 200, .keys = 512, .offset = 312, .window = 64},
                      Causal{.queries = 100, .keys = 2048, .offset = 1500, .window = 200},
                      Causal{.queries = 512, .keys = 512, .depth = 3, .offset = 511, .window = 600},
                      // The last rows see no key, or the first ones.
                      Causal{.queries = 90, .keys = 48, .window = 4, .empty_rows = "zero"},
                      Causal{.queries = 90, .keys = 90, .offset = -5, .window = 9}));

// Keys and values of columns that no block computes may be NaN.
TEST(HiddenColumns, AreNotComputed) {
  const Graph graph = GraphOf(Causal{.queries = 40, .keys = 320});
  std::vector<Array> inputs = InputsOf(graph);
  const auto expected = RunReference(graph, inputs);
  ASSERT_TRUE(expected) << expected.error().Format();
  for (const size_t operand : {1, 2}) {
    const int64_t width = inputs[operand].shape()[2];
    // Blocks have 16 or 32 rows here, and no block computes columns from 64 on.
    for (int64_t i = 64 * width; i < inputs[operand].size(); ++i)
      inputs[operand].SetDouble(i, std::numeric_limits<double>::quiet_NaN());
  }
  EXPECT_GT(ExpectRight(graph, inputs, expected->front()), 1);
}

// Columns before the window of a block's first row are not computed either.
TEST(HiddenColumns, BeforeAWindowAreNotComputed) {
  const Graph graph = GraphOf(Causal{.queries = 40, .keys = 320, .offset = 256, .window = 40});
  std::vector<Array> inputs = InputsOf(graph);
  const auto expected = RunReference(graph, inputs);
  ASSERT_TRUE(expected) << expected.error().Format();
  for (const size_t operand : {1, 2}) {
    const int64_t width = inputs[operand].shape()[2];
    // Row 0 sees columns 217 to 256.
    for (int64_t i = 0; i < 208 * width; ++i)
      inputs[operand].SetDouble(i, std::numeric_limits<double>::quiet_NaN());
  }
  EXPECT_GT(ExpectRight(graph, inputs, expected->front()), 1);
}

}  // namespace
}  // namespace tunec
