// Tests of dynamic-shape models against the reference execution of the graph at each size.
#include "compiler/sized/sized_model.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/sized/load_sized.h"
#include "graph/compare_arrays.h"
#include "graph/random_inputs.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "tests/compiler/load_sized_bytes.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

// A transformer block with attention, a mean over the length, and a slice of the last position.
constexpr const char* kBlock = R"(graph block {
  input x: f32[batch, length, 32]
  input keep: bool[batch, length]
  weight wq: f32[32, 32]
  weight wk: f32[32, 32]
  weight wv: f32[32, 32]
  weight w: f32[32, 48]
  q = matmul(x, wq)
  k = matmul(x, wk)
  v = matmul(x, wv)
  mask = reshape(keep) {shape=[batch, 1, length]}
  a = attention(q, k, v, mask)
  rows = reshape(a) {shape=[batch * length, 32]}
  h = matmul(rows, w)
  g = gelu(h)
  y = reshape(g) {shape=[batch, length, 48]}
  mean = reduce_mean(y) {axes=[1], keepdims=0}
  last = slice(y) {starts=[0, length - 1, 0], ends=[batch, length, 48]}
  output y
  output mean
  output last
})";

// A graph that subtracts the mean over the batch, as batch normalisation does in training.
constexpr const char* kOverBatch = R"(graph over_batch {
  input x: f32[batch, 24]
  m = reduce_mean(x) {axes=[0], keepdims=1}
  d = sub(x, m)
  output d
})";

ModelOptions OptionsWith(std::map<std::string, DimSizes> dims) {
  ModelOptions options;
  options.random_weights = 7;
  options.dims = std::move(dims);
  return options;
}

Result<std::unique_ptr<SizedModel>> Make(std::string_view text,
                                         const std::map<std::string, DimSizes>& open,
                                         std::vector<ListedSizes> listed = {},
                                         CompileOptions compile = testing::Options(),
                                         std::optional<size_t> most_variants = {}) {
  const std::span bytes = std::as_bytes(std::span(text));
  TUNEC_ASSIGN(SizedSource source, testing::LoadSizedBytes(bytes, "graph", OptionsWith(open)));
  SizedOptions options;
  options.listed = std::move(listed);
  options.compile = std::move(compile);
  options.most_variants = most_variants;
  return SizedModel::Make(std::move(source), std::move(options), nullptr);
}

/// Runs a model at these sizes. Expects outputs near those of the graph's reference execution.
void ExpectEqual(const SizedModel& model, std::string_view text, const GraphSizes& sizes) {
  SCOPED_TRACE(fmt::format("{}", sizes));
  const Result<Graph> graph = ParseGraph(text, "test", RandomWeights(7), sizes);
  ASSERT_TRUE(graph) << graph.error().message;
  const Result<std::vector<Array>> inputs = RandomInputs(*graph, 5);
  ASSERT_TRUE(inputs) << inputs.error().message;
  std::vector<Shape> shapes;
  std::vector<const void*> from;
  for (const Array& input : *inputs) {
    shapes.push_back(input.shape());
    from.push_back(input.data());
  }
  const Result<std::vector<Shape>> results = model.OutputShapes(shapes);
  ASSERT_TRUE(results) << results.error().message;
  std::vector<Array> outputs;
  std::vector<void*> to;
  for (size_t i = 0; i < results->size(); ++i) {
    EXPECT_EQ((*results)[i], graph->value(graph->outputs()[i]).type.Shape());
    outputs.emplace_back(model.Outputs()[i].type, (*results)[i]);
  }
  for (Array& output : outputs) to.push_back(output.mutable_data());
  const Status run = model.Run(shapes, from, to);
  ASSERT_TRUE(run) << run.error().message;
  const auto expected = RunReference(*graph, *inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputError error = CompareOutput(model.Outputs()[i].name, outputs[i], (*expected)[i]);
    EXPECT_TRUE(error.IsWithin(1e-5)) << error.name << " " << error.Relative();
  }
}

constexpr const char* kClipped = R"(graph clipped {
  input x: f32[length, 3]
  c = slice(x) {starts=[0, 0], ends=[min(length, 20), 3]}
  y = relu(c)
  s = reduce_sum(c) {axes=[0], keepdims=0}
  output y
  output s
})";

nlohmann::json ExecutablesOf(const SizedModel& model) {
  return nlohmann::json::parse(model.Report())["executables"];
}

size_t Executables(const SizedModel& model) { return ExecutablesOf(model).size(); }

TEST(SizedModel, EqualsTheModelOfEachSize) {
  const auto model = Make(kBlock, {{"batch", {{2, 4}}}, {"length", {{12, 20}}}}, {{}, {}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->Inputs()[0].shape, (Shape{-1, -1, 32}));
  EXPECT_EQ((*model)->Outputs()[1].shape, (Shape{-1, 48}));
  for (const auto& [batch, length] : {std::pair{1, 1}, {1, 9}, {3, 10}, {2, 17}, {5, 19}, {4, 33}})
    ExpectEqual(**model, kBlock, {{"batch", batch}, {"length", length}});
  const size_t before = Executables(**model);
  for (const auto& [batch, length] : {std::pair{1, 18}, {3, 19}, {4, 38}})
    ExpectEqual(**model, kBlock, {{"batch", batch}, {"length", length}});
  EXPECT_EQ(Executables(**model), before);
}

TEST(SizedModel, RemaindersMinimaAndMaximaOfSizesAreExact) {
  const std::string text = R"(graph rests {
  input x: f32[length, 4]
  m = slice(x) {starts=[length mod 10, 0], ends=[length mod 10 + 1, 4]}
  c = slice(x) {starts=[min(length - 1, 20), 0], ends=[min(length, 21), 4]}
  d = slice(x) {starts=[max(length, 40) - 40, 0], ends=[max(length, 40) - 39, 4]}
  s = add(m, c)
  y = add(s, d)
  output y
})";
  const auto model = Make(text, {{"length", {{16, 128}}}});
  ASSERT_TRUE(model) << model.error().message;
  for (const int length :
       {11, 16, 19, 20, 21, 39, 40, 41, 63, 64, 99, 109, 110, 113, 120, 127, 128})
    ExpectEqual(**model, text, {{"length", length}});
}

TEST(SizedModel, ListedSizesAreCompiledForAtOnceAndExactly) {
  const auto model = Make(kBlock, {{"batch", {{1, 4}}}, {"length", {{16, 24}}}},
                          {{.sizes = {1, 4}}, {.sizes = {16, 24}}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(Executables(**model), 4);
  for (const auto& [batch, length] : {std::pair{1, 16}, {4, 24}, {1, 24}})
    ExpectEqual(**model, kBlock, {{"batch", batch}, {"length", length}});
  EXPECT_EQ(Executables(**model), 4);
  for (const auto& [batch, length] : {std::pair{3, 20}, {4, 13}, {9, 24}})
    ExpectEqual(**model, kBlock, {{"batch", batch}, {"length", length}});
}

TEST(SizedModel, ListedSizesAreNotMoreThanAreKept) {
  const auto model =
      Make(kBlock, {{"batch", {{1, 4}}}, {"length", {{16, 24}}}},
           {{.sizes = {1, 2, 3, 4, 5, 6, 7}}, {.sizes = {8, 9, 10, 16, 24, 32, 40}}});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kResourceLimit);
  EXPECT_EQ(model.error().message,
            "the listed sizes, 7x7 of them, make 49 executables, expected at most 48");
  // Executables for a range are compiled at their first use, so the range may have any length.
  const ListedSizes range{.sizes = RoundedSizes(1, 512), .exact = false};
  EXPECT_TRUE(Make(kBlock, {{"batch", {{1, 4}}}, {"length", {{16, 24}}}}, {range, range}));
}

TEST(SizedModel, WhatMixesTheBatchIsNotCut) {
  const auto model = Make(kOverBatch, {{"batch", {{8, 16}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  for (const int64_t batch : {1, 3, 9, 16, 21})
    ExpectEqual(**model, kOverBatch, {{"batch", batch}});
}

TEST(SizedModel, SizesThatAreClippedArePadded) {
  for (const ListedSizes& listed : {ListedSizes{.sizes = {48, 64}}, ListedSizes{}}) {
    const auto model = Make(kClipped, {{"length", {{48, 64}}}}, {listed});
    ASSERT_TRUE(model) << model.error().message;
    for (const int64_t length : {10, 1, 19, 20, 21, 48, 60, 64, 100})
      ExpectEqual(**model, kClipped, {{"length", length}});
  }
}

// The graph adds the sum of the input's first 20 rows, or of all rows, to each row. One padded
// executable serves all smaller lengths.
TEST(SizedModel, OneExecutableServesAllSmallerSizes) {
  constexpr const char* kAddsUpTo = R"(graph adds_up_to {
  input x: f32[length, 3]
  a = slice(x) {starts=[0, 0], ends=[min(length, 20), 3]}
  s = reduce_sum(a) {axes=[0], keepdims=1}
  y = add(x, s)
  output y
})";
  const auto model = Make(kAddsUpTo, {{"length", {{48, 64}}}}, {{.sizes = {64}}});
  ASSERT_TRUE(model) << model.error().message;
  for (const int64_t length : {40, 50, 63, 31, 12, 3, 64})
    ExpectEqual(**model, kAddsUpTo, {{"length", length}});
  const auto report = nlohmann::json::parse((*model)->Report());
  EXPECT_FALSE(report.contains("refusal")) << report;
  EXPECT_EQ(report["executables"].size(), 2) << report;
}

TEST(SizedModel, SizesThatDoNotFulfilAConditionAreErrors) {
  const auto model = Make(testing::kPairs, {{"length", {{48, 64}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->form().conditions[0].text, "length mod 2 == 0");
  for (const int64_t length : {20, 22, 2, 4, 46})
    ExpectEqual(**model, testing::kPairs, {{"length", length}});
  const auto odd = (*model)->OutputShapes(std::vector<Shape>{{21, 3}});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().message, "length is 21 (input x axis 0), expected length mod 2 == 0");
  EXPECT_EQ(Executables(**model), 4) << (*model)->Report();  // for 2, 4, up to 22, and up to 46
}

// A graph with the strides of a ResNet. Image sizes are halved and rounded five times.
constexpr const char* kStrides = R"(graph strides {
  input x: f32[batch, 3, height, width]
  weight w7: f32[8, 3, 7, 7]
  weight w3: f32[8, 8, 3, 3]
  weight w1: f32[8, 8, 1, 1]
  a = conv(x, w7) {strides=[2, 2], pads=[3, 3, 3, 3]}
  p = max_pool(a) {kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
  b = conv(p, w3) {strides=[2, 2], pads=[1, 1, 1, 1]}
  c = conv(p, w1) {strides=[2, 2]}
  d = add(b, c)
  e = conv(d, w3) {strides=[2, 2], pads=[1, 1, 1, 1]}
  r = relu(e)
  f = conv(r, w3) {strides=[2, 2], pads=[1, 1, 1, 1]}
  n = average_pool(f) {kernel=[3, 3], pads=[1, 1, 1, 1]}
  mean = reduce_mean(f) {axes=[2, 3], keepdims=0}
  output n
  output mean
})";

TEST(SizedModel, ImagesOfAnyHeightAndWidth) {
  const auto model = Make(
      kStrides, {{"batch", {{1, 2}}}, {"height", {{64, 96}}}, {"width", {{64, 96}}}}, {{}, {}, {}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_FALSE(nlohmann::json::parse((*model)->Report()).contains("refusal")) << (*model)->Report();
  EXPECT_EQ((*model)->Outputs()[0].shape, (Shape{-1, 8, -1, -1}));
  for (const auto& [height, width] : {std::pair{65, 33}, {76, 38}, {71, 35}, {66, 37}, {75, 36}})
    ExpectEqual(**model, kStrides, {{"batch", 1}, {"height", height}, {"width", width}});
  EXPECT_EQ(Executables(**model), 1) << (*model)->Report();
  EXPECT_FALSE(nlohmann::json::parse((*model)->Report()).contains("refused"));
  ExpectEqual(**model, kStrides, {{"batch", 3}, {"height", 70}, {"width", 37}});
}

// A graph that halves an image twice. The smaller result is upsampled to the size of the larger
// one. Then both are upsampled to the image's size.
constexpr const char* kThereAndBack = R"(graph there_and_back {
  input x: f32[1, 4, height, width]
  weight w: f32[4, 4, 3, 3]
  weight s: f32[4]
  a = conv(x, w) {strides=[2, 2], pads=[1, 1, 1, 1]}
  g = group_norm(a, s, s) {groups=2}
  b = conv(g, w) {strides=[2, 2], pads=[1, 1, 1, 1]}
  u = resize(b) {shape=[1, 4, height - height / 2, width - width / 2], mode="linear"}
  c = concat(g, u) {axis=1}
  y = resize(c) {shape=[1, 8, height, width], mode="linear"}
  output y
})";

TEST(SizedModel, ImagesThereAndBack) {
  const auto model = Make(kThereAndBack, {{"height", {{40, 48}}}, {"width", {{40, 48}}}}, {{}, {}});
  ASSERT_TRUE(model) << model.error().message;
  for (const auto& [height, width] : {std::pair{33, 37}, {38, 38}, {36, 34}, {35, 33}})
    ExpectEqual(**model, kThereAndBack, {{"height", height}, {"width", width}});
  EXPECT_EQ(Executables(**model), 1) << (*model)->Report();
}

TEST(SizedModel, NormsOverTheLength) {
  constexpr const char* kNorm = R"(graph norm {
  input x: f32[length, 5]
  weight s: f32[5]
  t = rms_norm(x, s) {axis=0}
  y = layer_norm(t, s, s) {axis=0, epsilon=0.01}
  output y
})";
  const auto model = Make(kNorm, {{"length", {{9, 16}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  for (const int64_t length : {20, 21, 22, 23}) ExpectEqual(**model, kNorm, {{"length", length}});
  EXPECT_EQ(Executables(**model), 1) << (*model)->Report();
}

TEST(SizedModel, WhatCannotBePaddedIsCompiledForEachSize) {
  constexpr const char* kCubic = R"(graph cubic {
  input x: f32[1, 2, length]
  y = resize(x) {shape=[1, 2, 7], mode="cubic"}
  output y
})";
  const auto model = Make(kCubic, {{"length", {{9, 16}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(nlohmann::json::parse((*model)->Report()).contains("refusal"));
  for (const int64_t length : {5, 9, 11}) ExpectEqual(**model, kCubic, {{"length", length}});
  EXPECT_EQ(Executables(**model), 3);
}

CompileOptions ForAnEmulatedGpu() {
  CompileOptions options = testing::Options();
  options.target.device = *CudaAccelerator("sm_90a");
  options.target.device->features.emplace(kEmulated);
  return options;
}

// The kernels of an emulated GPU read the sizes and the padded inputs.
TEST(SizedModel, OnAnEmulatedGpu) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const CompileOptions options = ForAnEmulatedGpu();
  const auto block = Make(kBlock, {{"batch", {{1, 2}}}, {"length", {{12, 20}}}}, {{}, {}}, options);
  ASSERT_TRUE(block) << block.error().message;
  for (const auto& [batch, length] : {std::pair{1, 9}, {1, 10}, {3, 9}})
    ExpectEqual(**block, kBlock, {{"batch", batch}, {"length", length}});
  const auto images =
      Make(kThereAndBack, {{"height", {{12, 16}}}, {"width", {{12, 16}}}}, {{}, {}}, options);
  ASSERT_TRUE(images) << images.error().message;
  for (const auto& [height, width] : {std::pair{9, 11}, {10, 12}})
    ExpectEqual(**images, kThereAndBack, {{"height", height}, {"width", width}});
}

// On a device, a second run would take longer than a few wasted elements.
TEST(SizedModel, RunsOfADeviceAreRoundedUpAndCutWhereTheyAreLarge) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  constexpr const char* kSoftmax = R"(graph rows {
  input x: f32[batch, 8]
  y = softmax(x) {axis=1}
  output y
})";
  const auto model = Make(kSoftmax, {{"batch", {{3, 9}}}}, {{}}, ForAnEmulatedGpu());
  ASSERT_TRUE(model) << model.error().message;
  for (const int64_t batch : {1, 5, 7, 300}) ExpectEqual(**model, kSoftmax, {{"batch", batch}});
  std::set<int64_t> sizes;
  for (const auto& made : ExecutablesOf(**model)) sizes.insert(made["sizes"][0].get<int64_t>());
  EXPECT_EQ(sizes, (std::set<int64_t>{1, 8, 64, 256}));
}

TEST(SizedModel, KeepsSoManyExecutables) {
  const auto model = Make(kOverBatch, {{"batch", {{8, 16}}}}, {{}}, testing::Options(), 5);
  ASSERT_TRUE(model) << model.error().message;
  for (int64_t batch = 1; batch < 100; batch = batch * 5 / 4 + 1)
    ExpectEqual(**model, kOverBatch, {{"batch", batch}});
  EXPECT_EQ(Executables(**model), 5);
}

// A graph with a sum over the length, so that runs are padded and not split.
constexpr const char* kLookup = R"(graph lookup {
  constant table: f32[3] = [10, 20, 30]
  input i: i64[length]
  y = gather(table, i)
  sum = reduce_sum(y) {axes=[0], keepdims=0}
  output sum
})";

void Lookup(const SizedModel& model, const std::vector<int64_t>& indices) {
  const std::vector<Shape> shapes = {{static_cast<int64_t>(indices.size())}};
  const std::vector<const void*> from = {indices.data()};
  std::vector<float> result(indices.size());
  const std::vector<void*> to = {result.data()};
  const Status run = model.Run(shapes, from, to);
  ASSERT_TRUE(run) << run.error().message;
}

TEST(SizedModel, CountsIndicesOutOfRange) {
  const auto model = Make(kLookup, {{"length", {{9, 16}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  Lookup(**model, std::vector<int64_t>(23, 2));
  EXPECT_EQ((*model)->CountOutside(), 0);
  Lookup(**model, std::vector<int64_t>(23, 7));
  EXPECT_EQ((*model)->CountOutside(), 23);
  Lookup(**model, std::vector<int64_t>(21, 2));
  EXPECT_EQ((*model)->CountOutside(), 23);  // indices of the previous run are not counted again
  // The following runs use more executables than the cache stores.
  for (int64_t length = 1, i = 0; i < 30; length = length * 5 / 4 + 1, ++i) {
    std::vector<int64_t> indices(static_cast<size_t>(length));
    indices[0] = -4;
    Lookup(**model, indices);
    EXPECT_EQ((*model)->CountOutside(), 24 + i);
  }
}

// The run needs more executables than the cache stores. Some are evicted before they run.
TEST(SizedModel, CountsIndicesOfWhatIsNotKept) {
  const std::string text = R"(graph lookup {
  constant table: f32[3] = [10, 20, 30]
  input i: i64[length]
  y = gather(table, i)
  output y
})";
  const std::span bytes = std::as_bytes(std::span(text));
  auto source = testing::LoadSizedBytes(bytes, "graph", OptionsWith({{"length", {{9, 16}}}}));
  ASSERT_TRUE(source) << source.error().message;
  const auto model = SizedModel::Make(*std::move(source),
                                      {.most_variants = 2, .compile = testing::Options()}, nullptr);
  ASSERT_TRUE(model) << model.error().message;
  Lookup(**model, std::vector<int64_t>(15, 7));  // runs in parts of 8, 4, 2 and 1
  EXPECT_EQ((*model)->CountOutside(), 15);
  EXPECT_EQ(Executables(**model), 2);
}

// In the padding, indices are computed from zeros and are out of range. They are not counted. Runs
// of independent lookups are still split.
TEST(SizedModel, CountsComputedIndicesOutOfRange) {
  const std::string begin = R"(graph lookup {
  constant table: f32[3] = [10, 20, 30]
  constant hundred: i64[] = 100
  input i: i64[length]
  n = sub(i, hundred)
  )";
  const std::string sum =
      "y = gather(table, n)\n  s = reduce_sum(y) {axes=[0], keepdims=0}\n  output s\n}";
  const std::string each = "y = gather_elements(table, n) {axis=0}\n  output y\n}";
  for (const std::string& text : {begin + sum, begin + each}) {
    const auto model = Make(text, {{"length", {{8, 16}}}}, {{.sizes = {16}}});
    ASSERT_TRUE(model) << model.error().message;
    Lookup(**model, std::vector<int64_t>(23, 102));
    EXPECT_EQ((*model)->CountOutside(), 0) << text;
    Lookup(**model, std::vector<int64_t>(11, 99));
    EXPECT_EQ((*model)->CountOutside(), 0) << text;
    Lookup(**model, std::vector<int64_t>(23, 103));
    EXPECT_EQ((*model)->CountOutside(), 23) << text;
  }
  const auto cut = Make(begin + each, {{"length", {{8, 16}}}}, {{.sizes = {16}}});
  ASSERT_TRUE(cut);
  Lookup(**cut, std::vector<int64_t>(16 * 60 + 3, 102));
  EXPECT_EQ(Executables(**cut), 2) << (*cut)->Report();
}

// The table has 19 rows, so the graph is invalid at lengths above 19.
TEST(SizedModel, WhatIsNoGraphAtTheNextSizeIsCompiledForItself) {
  constexpr const char* kTable = R"(graph table {
  input x: f32[length, 3]
  input table: f32[19, 3]
  p = slice(table) {starts=[0, 0], ends=[length, 3]}
  y = add(x, p)
  s = reduce_sum(y) {axes=[0], keepdims=0}
  output s
})";
  const auto model = Make(kTable, {{"length", {{12, 19}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  for (const int64_t length : {9, 18, 19}) ExpectEqual(**model, kTable, {{"length", length}});
}

// Make fails if the source is cancelled at any of the graphs that Make requests.
TEST(SizedModel, MakingEndsWhereTheSourceIsCancelled) {
  for (const char* text : {kLookup, kOverBatch}) {
    const std::string name = text == kOverBatch ? "batch" : "length";
    const std::span bytes = std::as_bytes(std::span(std::string_view(text)));
    auto whole = testing::LoadSizedBytes(bytes, "graph", OptionsWith({{name, {{9, 16}}}}));
    ASSERT_TRUE(whole) << whole.error().message;
    bool is_made = false;
    for (int last = 0; !is_made && last < 100; ++last) {
      SizedSource source = *whole;
      source.graph_at = [&whole, last, calls = 0](const Sizes& sizes) mutable -> Result<Graph> {
        if (calls++ == last) return Fail(ErrorCode::kCancelled, "enough");
        return whole->graph_at(sizes);
      };
      const auto model =
          SizedModel::Make(std::move(source), {.compile = testing::Options()}, nullptr);
      is_made = model.has_value();
      EXPECT_TRUE(last > 0 || !is_made);
      if (!is_made) {
        EXPECT_EQ(model.error().code, ErrorCode::kCancelled) << model.error().message;
      }
    }
    EXPECT_TRUE(is_made);
  }
}

/// Runs the model on an input f32[length, 3] of zeros and ignores the outputs.
Status RunOfLength(const SizedModel& model, int64_t length) {
  const std::vector<Shape> shapes = {{length, 3}};
  const std::vector<float> input(static_cast<size_t>(length) * 3);
  const std::vector<const void*> from = {input.data()};
  TUNEC_ASSIGN(const std::vector<Shape> results, model.OutputShapes(shapes));
  std::vector<Array> outputs;
  std::vector<void*> to;
  for (const Shape& shape : results) outputs.emplace_back(DataType::kF32, shape);
  for (Array& output : outputs) to.push_back(output.mutable_data());
  return model.Run(shapes, from, to);
}

constexpr const char* kRows = R"(graph rows {
  input x: f32[length, 3]
  y = relu(x)
  z = neg(x)
  output y
  output z
})";

/// Makes a model of a text with the dimension `length`. Each graph that it requests is preceded by
/// a call of `check`, whose error is the error of the source.
std::unique_ptr<SizedModel> MakeOfLength(const std::string& text, const ListedSizes& listed,
                                         const std::function<Status()>& check) {
  const std::span bytes = std::as_bytes(std::span(text));
  auto source = testing::LoadSizedBytes(bytes, "graph", OptionsWith({{"length", {{4, 8}}}}));
  EXPECT_TRUE(source) << source.error().message;
  source->graph_at = [check, graph_at = source->graph_at](const Sizes& sizes) -> Result<Graph> {
    TUNEC_RETURN_IF_ERROR(check());
    return graph_at(sizes);
  };
  SizedOptions options;
  options.listed = {listed};
  options.compile = testing::Options();
  auto model = SizedModel::Make(*std::move(source), std::move(options), nullptr);
  EXPECT_TRUE(model) << model.error().message;
  return model ? *std::move(model) : nullptr;
}

/// Repeats a run of this length until the run succeeds. The source is cancelled one request later
/// each time. Finally the executables must be the same as without cancelling.
void ExpectEndsWhereCancelled(const std::string& text, int64_t length) {
  const auto whole = MakeOfLength(text, {}, [] { return Status(); });
  ASSERT_TRUE(whole && RunOfLength(*whole, length));
  int64_t left = INT64_MAX;
  const auto model = MakeOfLength(text, {}, [&]() -> Status {
    if (left-- == 0) return Fail(ErrorCode::kCancelled, "enough");
    return {};
  });
  ASSERT_TRUE(model);
  int64_t cancelled = 0;
  for (bool has_run = false; !has_run && cancelled < 200; cancelled += has_run ? 0 : 1) {
    left = cancelled;
    const Status run = RunOfLength(*model, length);
    has_run = run.has_value();
    EXPECT_TRUE(has_run || run.error().code == ErrorCode::kCancelled) << run.error().message;
  }
  EXPECT_GT(cancelled, 0);
  EXPECT_EQ(ExecutablesOf(*model), ExecutablesOf(*whole));
}

TEST(SizedModel, RunsEndWhereTheSourceIsCancelled) {
  ExpectEndsWhereCancelled(kRows, 1100);
  ExpectEndsWhereCancelled(kRows, 30);
}

/// Runs a model on 11 rows. Its outputs begin at the elements y and z of an array of 100 numbers,
/// which are 7 before the run. Returns the status and the array.
std::pair<Status, std::vector<float>> RunOfEleven(const SizedModel& model, size_t y, size_t z) {
  const std::vector<float> x(33, 2);
  std::vector<float> results(100, 7);
  const std::vector<Shape> shapes = {{11, 3}};
  const std::vector<const void*> from = {x.data()};
  const std::vector<void*> to = {&results[y], &results[z]};
  const Status run = model.Run(shapes, from, to);
  return {run, std::move(results)};
}

// The run has parts of 8, 2 and 1 rows. There is code for the first one.
TEST(SizedModel, NothingIsWrittenWhereAPartCannotRun) {
  bool is_removed = false;
  const auto model = MakeOfLength(kRows, {}, [&]() -> Status {
    if (is_removed) return Fail(ErrorCode::kCancelled, "enough");
    return {};
  });
  ASSERT_TRUE(model && RunOfLength(*model, 8));
  const std::vector<float> untouched(100, 7);
  is_removed = true;
  const auto [failed, after] = RunOfEleven(*model, 0, 50);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(after, untouched);
  is_removed = false;
  // The elements 30 to 32 belong to both outputs.
  const auto [rejected, same] = RunOfEleven(*model, 0, 30);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().message, "outputs 'y' and 'z' overlap");
  EXPECT_EQ(same, untouched);
  const auto [run, results] = RunOfEleven(*model, 0, 50);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(results[32], 2);
  EXPECT_EQ(results[33], 7);
  EXPECT_EQ(results[82], -2);
}

// A run of 511 rows is split into powers of two. Only four executables retain memory.
TEST(SizedModel, FewExecutablesKeepMemoryOfALongRun) {
  constexpr const char* kSteps = R"(graph steps {
  input x: f32[length, 3]
  constant w: f32[3, 3] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  a = matmul(x, w)
  s = softmax(a) {axis=1}
  b = matmul(s, w)
  y = cumsum(b) {axis=1}
  output y
})";
  const auto model = MakeOfLength(kSteps, {}, [] { return Status(); });
  ASSERT_TRUE(model);
  const Status run = RunOfLength(*model, 511);
  ASSERT_TRUE(run) << run.error().message;
  int with_memory = 0;
  const nlohmann::json executables = ExecutablesOf(*model);
  for (const auto& each : executables) with_memory += each["context_bytes"] > 0 ? 1 : 0;
  EXPECT_GT(executables.size(), 4) << executables;
  EXPECT_EQ(with_memory, 4) << executables;
}

TEST(SizedModel, WrongShapesAreErrors) {
  const auto model = Make(kBlock, {{"batch", {{2, 4}}}, {"length", {{12, 20}}}}, {{}, {}});
  ASSERT_TRUE(model) << model.error().message;
  const std::vector<std::vector<Shape>> wrong = {{{2, 12, 32}},
                                                 {{2, 12, 32}, {2, 13}},
                                                 {{2, 12, 31}, {2, 12}},
                                                 {{2, 12}, {2, 12}},
                                                 {{0, 12, 32}, {0, 12}}};
  for (const std::vector<Shape>& shapes : wrong) {
    const auto result = (*model)->OutputShapes(shapes);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument) << result.error().message;
  }
}

constexpr const char* kTwoNames = R"(graph two_names {
  input x: f32[rows, 4]
  input y: f32[lines, 4]
  both = concat(x, y) {axis=1}
  output both
})";

TEST(SizedModel, DimensionsThatAConcatenationNeedsEqualBecomeOne) {
  std::vector<std::string> notes;
  CompileOptions compile = testing::Options();
  compile.on_log = [&](const std::string& line) { notes.push_back(line); };
  const auto model = Make(kTwoNames, {}, {}, std::move(compile));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->form().dimensions, std::vector<std::string>{"rows"});
  ASSERT_EQ(notes.size(), 1);
  EXPECT_NE(notes[0].find("are equal, so they are one"), std::string::npos) << notes[0];
  for (const int64_t rows : {1, 5, 64}) {
    ExpectEqual(**model, kTwoNames, {{"rows", rows}, {"lines", rows}});
    if (HasFatalFailure()) return;
  }
  EXPECT_FALSE((*model)->OutputShapes(std::vector<Shape>{{4, 4}, {5, 4}}));
}

// A sum repeats an extent of 1. Equal sizes are padded, and other sizes have exact code.
TEST(SizedModel, DimensionsThatASumNeedsEqualStayTwo) {
  constexpr const char* kSum = R"(graph sum {
  input x: f32[rows, 4]
  input y: f32[lines, 4]
  z = add(x, y)
  s = softmax(z) {axis=0}
  output s
})";
  const auto model = Make(kSum, {{"rows", {{8, 16}}}, {"lines", {{8, 16}}}},
                          {{.sizes = {8, 16}}, {.sizes = {16}}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->form().dimensions, (std::vector<std::string>{"lines", "rows"}));
  for (const int64_t rows : {16, 15, 7, 1}) {
    ExpectEqual(**model, kSum, {{"rows", rows}, {"lines", rows}});
    if (HasFatalFailure()) return;
  }
  EXPECT_FALSE((*model)->OutputShapes(std::vector<Shape>{{4, 4}, {5, 4}}));
}

TEST(SizedModel, ADimensionThatNoInputHasIsAnError) {
  const auto model = Make(kOverBatch, {{"batch", {{8, 16}}}, {"other", {{1, 2}}}}, {{}, {}});
  ASSERT_FALSE(model);
  EXPECT_TRUE(model.error().message.starts_with("no input has the dimension other; "))
      << model.error().message;
}

}  // namespace
}  // namespace tunec
