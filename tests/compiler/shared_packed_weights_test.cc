// Tests of executables that share weights and packed weights.
#include "compiler/weights/shared_packed_weights.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "compiler/bundle/compile_variant.h"
#include "compiler/model_stages.h"
#include "graph/text/graph_text.h"
#include "runtime/preprocess_weights.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using testing::kTolerance;
using testing::Options;
using testing::RunOnce;
using testing::SomeInputs;

// Returns the text of a graph with two products, whose weights can be packed, and a bias.
std::string TextOf(int64_t rows) {
  return fmt::format(R"(graph two {{
  input x: f32[{}, 64]
  weight w: f32[64, 192]
  weight b: f32[192]
  weight v: f32[192, 96]
  m = matmul(x, w)
  s = add(m, b)
  r = relu(s)
  y = matmul(r, v)
  output y
}})",
                     rows);
}

// Returns the text of a graph with a convolution and a constant factor.
std::string FoldedTextOf(int64_t batch) {
  return fmt::format(R"(graph folded {{
  input x: f32[{}, 16, 14, 14]
  weight w: f32[32, 16, 3, 3]
  weight scale: f32[32, 1, 1]
  c = conv(x, w) {{pads=[1, 1, 1, 1]}}
  y = mul(c, scale)
  output y
}})",
                     batch);
}

CompileOptions SharingOptions(const std::shared_ptr<SharedPackedWeights>& packed_weights) {
  CompileOptions options = Options();
  options.packed_weights = packed_weights;
  return options;
}

CompiledModel Compiled(const Graph& graph, const CompileOptions& options) {
  Result<CompiledModel> model = Compile(graph, nullptr, options);
  EXPECT_TRUE(model.has_value()) << model.error().Format();
  return *std::move(model);
}

// Returns the plan of an executable whose weights are already preprocessed.
ExecutablePlan ReadyPlan(const Graph& graph, const CompileOptions& options) {
  const auto staged = RunStages(graph, nullptr, options);
  EXPECT_TRUE(staged.has_value()) << staged.error().Format();
  ThreadPool pool(2);
  auto assembled = Assemble(staged->front, staged->groups, options, pool);
  EXPECT_TRUE(assembled.has_value()) << assembled.error().Format();
  EXPECT_TRUE(PreprocessWeights(assembled->plan, pool).has_value());
  return std::move(assembled->plan);
}

const void* AddressOf(const ExecutablePlan& plan, const std::string& constant) {
  const auto found = std::ranges::find(plan.constants, constant, &Constant::name);
  EXPECT_NE(found, plan.constants.end()) << constant;
  return found == plan.constants.end() ? nullptr : found->data.get();
}

int64_t BytesOf(const SharedPackedWeights& packed_weights) {
  return packed_weights.constants()->Bytes();
}

void ExpectSameBits(const std::vector<Array>& actual, const std::vector<Array>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].bytes(), expected[i].bytes()) << i;
    EXPECT_EQ(std::memcmp(actual[i].data(), expected[i].data(), actual[i].bytes()), 0) << i;
  }
}

TEST(SharedPackedWeights, TwoSizesHaveOnePackingOfEachWeight) {
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  const CompileOptions options = SharingOptions(packed_weights);
  const ExecutablePlan small = ReadyPlan(GraphOf(TextOf(3)), options);
  const int64_t bytes = BytesOf(*packed_weights);
  const ExecutablePlan again = ReadyPlan(GraphOf(TextOf(3)), options);
  for (const Constant& constant : small.constants) {
    if (constant.data == nullptr) continue;
    EXPECT_EQ(constant.data.get(), AddressOf(again, constant.name)) << constant.name;
  }
  EXPECT_NE(AddressOf(small, "w.packed"), nullptr);
  EXPECT_EQ(AddressOf(small, "w"), nullptr);
  EXPECT_EQ(BytesOf(*packed_weights), bytes);
  const ExecutablePlan alone = ReadyPlan(GraphOf(TextOf(3)), Options());
  EXPECT_NE(AddressOf(alone, "w.packed"), AddressOf(small, "w.packed"));
}

// Compiled alone, the sizes may have different packed weights. Here the sizes share packed weights,
// so six sizes need at most twice the memory of the first one.
TEST(SharedPackedWeights, AnotherSizeTakesThePackingThatThereIs) {
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  std::vector<CompiledModel> models;
  int64_t first = 0;
  for (const int64_t rows : {16, 3, 17, 40, 128, 100}) {
    const Graph graph = GraphOf(TextOf(rows));
    models.push_back(Compiled(graph, SharingOptions(packed_weights)));
    if (first == 0) first = BytesOf(*packed_weights);
    const auto error = ErrorAgainstReference(graph, *models.back().executable);
    ASSERT_TRUE(error.has_value());
    EXPECT_LE(*error, kTolerance) << rows;
  }
  EXPECT_GE(first, (64 * 192 + 192 * 96 + 192) * 4);
  EXPECT_LE(static_cast<double>(BytesOf(*packed_weights)), 2.0 * static_cast<double>(first));
}

TEST(SharedPackedWeights, OutputsAreThoseOfUnsharedOnes) {
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  std::vector<CompiledModel> models;
  for (const int64_t rows : {3, 16, 40}) {
    const Graph graph = GraphOf(TextOf(rows));
    models.push_back(Compiled(graph, SharingOptions(packed_weights)));
    const CompiledModel alone = Compiled(graph, Options());
    const std::vector<Array> inputs = SomeInputs(*alone.executable);
    const auto expected = RunOnce(*alone.executable, inputs);
    const auto actual = RunOnce(*models.back().executable, inputs);
    ASSERT_TRUE(expected && actual);
    ExpectSameBits(*actual, *expected);
  }
}

TEST(SharedPackedWeights, FoldedWeightsAreSharedToo) {
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  const CompileOptions options = SharingOptions(packed_weights);
  const CompiledModel one = Compiled(GraphOf(FoldedTextOf(1)), options);
  const int64_t bytes = BytesOf(*packed_weights);
  const CompiledModel other = Compiled(GraphOf(FoldedTextOf(1)), options);
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(BytesOf(*packed_weights), bytes);
}

TEST(SharedPackedWeights, OtherWeightsOfEqualShapesAreOthers) {
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  const CompileOptions options = SharingOptions(packed_weights);
  const auto other = ParseGraph(TextOf(16), "other.graph", RandomWeights(8));
  ASSERT_TRUE(other.has_value());
  const CompiledModel one = Compiled(GraphOf(TextOf(16)), options);
  const int64_t bytes = BytesOf(*packed_weights);
  const CompiledModel two = Compiled(*other, options);
  EXPECT_EQ(BytesOf(*packed_weights), 2 * bytes);
  for (const auto& [model, graph] : {std::pair(&one, GraphOf(TextOf(16))), std::pair(&two, *other)})
    EXPECT_LE(*ErrorAgainstReference(graph, *model->executable), kTolerance);
}

TEST(SharedPackedWeights, MemoryGoesWithTheLastExecutable) {
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  const CompileOptions options = SharingOptions(packed_weights);
  const Graph graph = GraphOf(TextOf(16));
  std::optional<CompiledModel> one = Compiled(graph, options);
  const int64_t bytes = BytesOf(*packed_weights);
  std::optional<CompiledModel> two = Compiled(graph, options);
  one.reset();
  EXPECT_EQ(BytesOf(*packed_weights), bytes);
  EXPECT_LE(*ErrorAgainstReference(graph, *two->executable), kTolerance);
  two.reset();
  EXPECT_EQ(BytesOf(*packed_weights), 0);
}

TEST(SharedPackedWeights, ModelsMayBeCompiledInThreads) {
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  std::atomic<int> wrong = 0;
  std::vector<std::shared_ptr<const Executable>> executables(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < executables.size(); ++t) {
    threads.emplace_back([&, t] {
      const Graph graph = GraphOf(TextOf(16));
      const auto model = Compile(graph, nullptr, SharingOptions(packed_weights));
      if (!model) {
        wrong.fetch_add(1);
        return;
      }
      executables[t] = model->executable;
      const auto error = ErrorAgainstReference(graph, *model->executable);
      if (!error || *error > kTolerance) wrong.fetch_add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  const auto alone = std::make_shared<SharedPackedWeights>();
  const CompiledModel one = Compiled(GraphOf(TextOf(16)), SharingOptions(alone));
  EXPECT_EQ(BytesOf(*packed_weights), BytesOf(*alone));
}

// Packed weights of an equal model do not change a bundle's code or constants.
TEST(SharedPackedWeights, BundlesAreTheSame) {
  const Graph graph = GraphOf(TextOf(16));
  const auto packed_weights = std::make_shared<SharedPackedWeights>();
  const CompiledModel held = Compiled(graph, SharingOptions(packed_weights));
  const auto sharing = CompileVariant(graph, nullptr, SharingOptions(packed_weights), "native");
  const auto alone = CompileVariant(graph, nullptr, Options(), "native");
  ASSERT_TRUE(sharing && alone);
  EXPECT_TRUE(sharing->image == alone->image);
  ASSERT_EQ(sharing->plan.constants.size(), alone->plan.constants.size());
  for (size_t i = 0; i < alone->plan.constants.size(); ++i) {
    const int64_t bytes = alone->plan.constants[i].bytes;
    ASSERT_EQ(sharing->plan.constants[i].bytes, bytes);
    ASSERT_NE(alone->constants[i], nullptr);
    EXPECT_EQ(std::memcmp(sharing->constants[i].get(), alone->constants[i].get(),
                          static_cast<size_t>(bytes)),
              0);
  }
}

}  // namespace
}  // namespace tunec
