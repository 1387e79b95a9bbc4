// Tests of attention whose products use pairs of bfloat16. Machine code is compared with the
// reference. Some sizes are multiples of pairs, vectors, blocks and KV blocks, and some are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graph/compare_arrays.h"
#include "graph/reference.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/loop_pipeline.h"
#include "kernel/run_once.h"
#include "tests/compiler/models.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

using testing::GraphOf;
using testing::Options;
using testing::TaskOf;

enum class Mask { kNone, kAdded, kChosen };

struct Paired {
  std::string name;
  int heads = 2, groups = 1, queries = 64, keys = 64, depth = 16, width = 16;
  bool causal = false;
  Mask mask = Mask::kNone;
  bool one_input = false;  // queries, keys and values are parts of one input
};

void PrintTo(const Paired& paired, std::ostream* out) { *out << paired.name; }

// Returns a graph with one attention. The scale is a power of two, so products of queries and keys
// with few bits are exact.
Graph GraphOf(const Paired& p) {
  const std::string causal = p.causal ? ", causal=1" : "";
  const std::string attributes = fmt::format("{{scale=0.125{}, empty_rows=\"zero\"}}", causal);
  if (p.one_input) {
    const int hidden = p.heads * p.depth;
    std::string text = fmt::format("graph one {{\n  input x: f32[1, {}, {}]\n", p.keys, 3 * hidden);
    const std::vector<std::string> names = {"q", "k", "v"};
    for (size_t i = 0; i < names.size(); ++i) {
      const auto first = static_cast<int>(i) * hidden;
      text += fmt::format(
          "  {0}_part = slice(x) {{starts=[0, 0, {1}], ends=[1, {3}, {2}]}}\n"
          "  {0}_heads = reshape({0}_part) {{shape=[1, {3}, {4}, {5}]}}\n"
          "  {0} = transpose({0}_heads) {{perm=[0, 2, 1, 3]}}\n",
          names[i], first, first + hidden, p.keys, p.heads, p.depth);
    }
    return GraphOf(text + "  y = attention(q, k, v) " + attributes + "\n  output y\n}");
  }
  std::string inputs =
      fmt::format(R"(
  input q: f32[{0}, {2}, {4}]
  input k: f32[{1}, {3}, {4}]
  input v: f32[{1}, {3}, {5}]
)",
                  p.heads * p.groups, p.heads, p.queries, p.keys, p.depth, p.width);
  std::string operands = "q, k, v";
  if (p.mask != Mask::kNone) {
    inputs += fmt::format("  input mask: {}[{}, {}]\n", p.mask == Mask::kAdded ? "f32" : "bool",
                          p.queries, p.keys);
    operands += ", mask";
  }
  return GraphOf("graph paired {" + inputs + "  y = attention(" + operands + ") " + attributes +
                 "\n  output y\n}");
}

// Returns random multiples of 1/8, which are exact in bfloat16. Masks hide the whole first row and
// about a quarter of the other elements, with -inf or false.
std::vector<Array> InputsOf(const Graph& graph) {
  std::mt19937 random(3);
  std::vector<Array> inputs;
  for (const ValueId input : graph.inputs()) {
    const ValueType& type = graph.value(input).type;
    const bool is_mask = graph.value(input).name == "mask";
    Array array(type.type, type.Shape());
    for (int64_t i = 0; i < array.size(); ++i) {
      const double value = static_cast<int>(random() % 25) / 8.0 - 1.5;
      const bool hidden = i < type.Shape().back() || random() % 4 == 0;
      if (is_mask && type.type == DataType::kBool) {
        array.SetDouble(i, hidden ? 0 : 1);
      } else {
        array.SetDouble(i, is_mask && hidden ? -std::numeric_limits<double>::infinity() : value);
      }
    }
    inputs.push_back(std::move(array));
  }
  return inputs;
}

double Difference(const Array& actual, const Array& expected) {
  return CompareOutput("y", actual, expected).absolute;
}

CompileOptions OptionsOfRounding() {
  CompileOptions options = Options();
  options.accuracy = *ParseAccuracy("bf16");
  return options;
}

std::vector<Sketch> SketchesOf(const TuningTask& task, const CompileOptions& options, double gain) {
  return SketchesFor({.lowerings = task.lowerings,
                      .target = options.target,
                      .rounding = RoundingFreedomFor(options.accuracy),
                      .gain = [gain](const TileIntrinsic&) { return gain; }});
}

// Returns the name of the first sketch if every tile intrinsic is `gain` times as fast as
// multiply-adds. If `gain` is 0, the speeds are unknown.
std::string First(const Paired& paired, double gain) {
  const CompileOptions options = OptionsOfRounding();
  return SketchesOf(TaskOf(GraphOf(paired), options), options, gain).front().name;
}

TEST(PairedAttentionSketch, IsFirstWhereItPays) {
  if (!OptionsOfRounding().target.Has("avx512bf16")) GTEST_SKIP() << "no AVX512_BF16";
  const Paired whole{.queries = 128, .keys = 128, .depth = 64, .width = 64};
  EXPECT_EQ(First(whole, 2), "stream/dpbf16");
  EXPECT_EQ(First(whole, 1), "stream");
  EXPECT_EQ(First(whole, 0), "stream");  // unknown gain
  // Rounding the keys and values does not pay for only one block of queries.
  EXPECT_EQ(First({.queries = 16, .keys = 512, .depth = 64, .width = 64}, 2), "stream");
}

TEST(PairedAttentionSketch, IsForContractsThatRound) {
  CompileOptions options = OptionsOfRounding();
  const Graph graph = GraphOf(Paired{.queries = 128, .keys = 128});
  options.accuracy = *ParseAccuracy("f32");
  for (const Sketch& sketch : SketchesOf(TaskOf(graph, options), options, 2))
    EXPECT_NE(sketch.name, "stream/dpbf16");
  options.accuracy = *ParseAccuracy("bf16");
  options.target = *ParseCpu("native,-avx512bf16", 2);
  for (const Sketch& sketch : SketchesOf(TaskOf(graph, options), options, 2))
    EXPECT_NE(sketch.name, "stream/dpbf16");
}

class PairedAttention : public ::testing::TestWithParam<Paired> {};

// Checks the sketch for pairs of each lowering, with the initial decisions and with random ones.
// Rounding changes only the attention weights, which are rounded to eight bits. So results may
// differ by 2^-8 of the largest value.
TEST_P(PairedAttention, IsAttention) {
  const CompileOptions options = OptionsOfRounding();
  if (!options.target.Has("avx512bf16")) GTEST_SKIP() << "a machine without AVX512_BF16";
  const Graph graph = GraphOf(GetParam());
  const std::vector<Array> inputs = InputsOf(graph);
  const auto expected = RunReference(graph, inputs);
  ASSERT_TRUE(expected) << expected.error().Format();
  const TuningTask task = TaskOf(graph, options);
  const RoundingFreedom rounding = RoundingFreedomFor(options.accuracy);
  ThreadPool pool(2);
  std::mt19937 random(11);
  int checked = 0;
  for (const Sketch& sketch : SketchesOf(task, options, 2)) {
    if (sketch.name != "stream/dpbf16") continue;
    Decisions decisions = sketch.InitialDecisions();
    for (int i = 0; i < 2; ++i) {
      const Schedule schedule = sketch.Fill(decisions);
      const Compute& compute = *FindLowering(task.lowerings, schedule.lowering);
      const auto loops =
          RunLoopPipeline(compute, schedule, {.rounding = rounding, .verify = VerifyStages::kEach});
      ASSERT_TRUE(loops) << loops.error().Format() << Print(schedule);
      const auto outputs = CompileAndRun(loops->nest, inputs, options.target, pool);
      ASSERT_TRUE(outputs) << outputs.error().Format();
      ASSERT_LE(Difference(outputs->front(), expected->front()), 1.5 / 256) << Print(schedule);
      ++checked;
      decisions = test::RandomDecisions(sketch, random);
    }
  }
  EXPECT_GT(checked, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, PairedAttention,
    ::testing::Values(
        Paired{.name = "whole", .queries = 128, .keys = 128, .depth = 64, .width = 64},
        Paired{.name = "few_queries", .queries = 1, .keys = 70},
        Paired{.name = "odd_keys", .queries = 50, .keys = 197, .depth = 64, .width = 64},
        Paired{.name = "odd_depth", .queries = 40, .keys = 45, .depth = 33, .width = 48},
        Paired{.name = "padded_width", .queries = 70, .keys = 90, .depth = 40, .width = 40},
        Paired{.name = "wide", .queries = 33, .keys = 34, .depth = 80, .width = 80},
        Paired{.name = "chunks", .queries = 20, .keys = 1000, .depth = 8},
        Paired{.name = "partial_chunks", .queries = 20, .keys = 1111, .depth = 8},
        Paired{.name = "causal", .queries = 128, .keys = 128, .causal = true},
        Paired{.name = "causal_odd", .queries = 77, .keys = 77, .depth = 5, .causal = true},
        Paired{.name = "causal_chunks", .queries = 300, .keys = 512, .depth = 4, .causal = true},
        Paired{.name = "added_mask", .queries = 40, .keys = 150, .mask = Mask::kAdded},
        Paired{.name = "chosen_mask", .queries = 40, .keys = 61, .mask = Mask::kChosen},
        Paired{.name = "groups", .groups = 3, .queries = 40, .keys = 56},
        Paired{.name = "one_input", .queries = 66, .keys = 66, .depth = 32, .one_input = true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec
