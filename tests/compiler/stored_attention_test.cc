// Tests of attention over operands that are stored as bfloat16, because another product of the
// model multiplies them too. The kernel runs through the interpreter and as machine code. The whole
// model runs as well.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/tuning/tasks.h"
#include "graph/compare_arrays.h"
#include "ir/interpret/interpret.h"
#include "kernel/loop_pipeline.h"
#include "kernel/run_once.h"
#include "tests/compiler/models.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

using testing::GraphOf;

// The parameters of an attention whose operands are heads of matrix products. `stored` lists those
// of the operands q, k and v that a further product reads. They are stored as bfloat16.
struct Stored {
  std::string name, stored;
  int heads = 2, groups = 1, queries = 33, keys = 40, depth = 16, width = 16;
  bool causal = false;
};

void PrintTo(const Stored& stored, std::ostream* out) { *out << stored.name; }

// Returns the graph text that computes the operand `name` by a product whose result is split into
// heads. If `s.stored` contains `name`, a further product reads this result.
std::string Operand(const Stored& s, char name, int rows, int heads, int depth) {
  const int hidden = heads * depth;
  std::string text = fmt::format(
      "  input {0}_in: f32[{1}, 24]\n"
      "  weight {0}_from: f32[24, {2}]\n"
      "  weight {0}_by: f32[{2}, 8]\n"
      "  {0}_all = matmul({0}_in, {0}_from)\n"
      "  {0}_rows = reshape({0}_all) {{shape=[{1}, {3}, {4}]}}\n"
      "  {0} = transpose({0}_rows) {{perm=[1, 0, 2]}}\n",
      name, rows, hidden, heads, depth);
  if (s.stored.find(name) != std::string::npos)
    text += fmt::format("  {0}_out = matmul({0}_all, {0}_by)\n  output {0}_out\n", name);
  return text;
}

Graph GraphOf(const Stored& s) {
  return GraphOf("graph stored {\n" + Operand(s, 'q', s.queries, s.heads * s.groups, s.depth) +
                 Operand(s, 'k', s.keys, s.heads, s.depth) +
                 Operand(s, 'v', s.keys, s.heads, s.width) +
                 fmt::format("  y = attention(q, k, v) {{scale=0.125{}, empty_rows=\"zero\"}}\n",
                             s.causal ? ", causal=1" : "") +
                 "  output y\n}");
}

CompileOptions OptionsOfRounding() {
  CompileOptions options = testing::Options();
  options.accuracy = *ParseAccuracy("bf16");
  return options;
}

TuningTask AttentionOf(const Graph& graph, const CompileOptions& options) {
  const auto front = RunFrontEnd(graph, options);
  EXPECT_TRUE(front) << front.error().Format();
  const ModelTasks tasks = CollectTasks(*front, options.target);
  const auto found = std::ranges::find(tasks.unique, "attention", &TuningTask::kind);
  EXPECT_NE(found, tasks.unique.end());
  return found == tasks.unique.end() ? TuningTask{} : *found;
}

// Returns random multiples of 1/8, which are exact in bfloat16 and in the types of all arguments.
std::vector<Array> ArgumentsOf(const Compute& compute) {
  std::mt19937 random(3);
  std::vector<Array> arguments;
  for (const Tensor& tensor : compute.tensors) {
    if (tensor.role != TensorRole::kInput) continue;
    Array array(tensor.type, tensor.shape);
    for (int64_t i = 0; i < array.size(); ++i)
      array.SetDouble(i, static_cast<int>(random() % 25) / 8.0 - 1.5);
    arguments.push_back(std::move(array));
  }
  return arguments;
}

double Difference(const Array& actual, const Array& expected) {
  return CompareOutput("y", actual, expected).absolute;
}

class StoredAttention : public ::testing::TestWithParam<Stored> {
 protected:
  void SetUp() override {
    if (!options_.target.Has("avx512bf16")) GTEST_SKIP() << "a machine without AVX512_BF16";
  }
  std::vector<Sketch> Sketches(const TuningTask& task) const {
    return SketchesFor({.lowerings = task.lowerings,
                        .target = options_.target,
                        .rounding = rounding_,
                        .gain = [](const TileIntrinsic&) { return 2.0; }});
  }
  Result<KernelLoops> Loops(const TuningTask& task, const Schedule& schedule) const {
    return RunLoopPipeline(*FindLowering(task.lowerings, schedule.lowering), schedule,
                           {.rounding = rounding_, .verify = VerifyStages::kEach});
  }

  const CompileOptions options_ = OptionsOfRounding();
  const RoundingFreedom rounding_ = RoundingFreedomFor(options_.accuracy);
};

// The sketches use multiply-adds or pairs of bfloat16. Rounding changes only the attention weights,
// which are rounded to eight bits. So results may differ by 2^-8 of the largest value.
TEST_P(StoredAttention, IsAttention) {
  const TuningTask task = AttentionOf(GraphOf(GetParam()), options_);
  ASSERT_FALSE(task.lowerings.empty());
  const Compute& direct = task.lowerings.front().compute;
  const auto stored = std::ranges::count(direct.tensors, DataType::kBF16, &Tensor::type);
  ASSERT_EQ(stored, std::ssize(GetParam().stored));
  const std::vector<Array> arguments = ArgumentsOf(direct);
  const auto expected = Interpret(direct, arguments, Precision::kFloat64);
  ASSERT_TRUE(expected) << expected.error().Format();
  ThreadPool pool(2);
  std::mt19937 random(11);
  std::map<std::string, int> checked;
  for (const Sketch& sketch : Sketches(task)) {
    Decisions decisions = sketch.InitialDecisions();
    for (int i = 0; i < 2; ++i) {
      const Schedule schedule = sketch.Fill(decisions);
      const auto loops = Loops(task, schedule);
      ASSERT_TRUE(loops) << loops.error().Format() << Print(schedule);
      if (i == 0 && checked[sketch.name] == 0) {
        const auto results = Interpret(loops->nest, arguments, Precision::kNative);
        ASSERT_TRUE(results) << results.error().Format() << Print(schedule);
        ASSERT_LE(Difference(results->front(), expected->front()), 1.5 / 256) << Print(schedule);
      }
      const auto outputs = CompileAndRun(loops->nest, arguments, options_.target, pool);
      ASSERT_TRUE(outputs) << outputs.error().Format();
      ASSERT_LE(Difference(outputs->front(), expected->front()), 1.5 / 256) << Print(schedule);
      ++checked[sketch.name];
      decisions = test::RandomDecisions(sketch, random);
    }
  }
  for (const char* name : {"stream", "stream/dpbf16"}) EXPECT_GT(checked[name], 1) << name;
}

// The kernels that write and that read the stored operands must agree about the rounding.
TEST_P(StoredAttention, IsWithinTheContractInItsModel) {
  const Graph graph = GraphOf(GetParam());
  const auto model = Compile(graph, nullptr, options_);
  ASSERT_TRUE(model) << model.error().Format();
  const auto error = testing::ErrorAgainstReference(graph, *model->executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, StoredAttention,
    ::testing::Values(
        Stored{.name = "keys", .stored = "k"}, Stored{.name = "values", .stored = "v"},
        Stored{.name = "all", .stored = "qkv", .queries = 64, .keys = 64},
        Stored{.name = "odd", .stored = "kv", .heads = 1, .keys = 45, .depth = 33, .width = 40},
        Stored{.name = "groups", .stored = "qkv", .groups = 3, .queries = 20},
        Stored{.name = "chunks", .stored = "kv", .queries = 5, .keys = 1111, .depth = 8},
        Stored{.name = "causal", .stored = "kv", .queries = 77, .keys = 77, .causal = true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec
