// Models of any size against the same models compiled for each size.
#include "compiler/sized/sized_model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compiler/sized/load_sized.h"
#include "graph/compare_arrays.h"
#include "graph/random_inputs.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

// A block of a transformer: attention over the length, a mean over it, the last position.
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

// Batch normalisation as training has it: a mean over the batch.
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

Result<std::unique_ptr<SizedModel>> Make(const std::string& text,
                                         const std::map<std::string, DimSizes>& open,
                                         std::vector<ListedSizes> listed = {}) {
  const std::span bytes = std::as_bytes(std::span(text));
  TUNEC_ASSIGN(SizedSource source, LoadSizedModelBytes(bytes, "graph", OptionsWith(open)));
  SizedOptions options;
  options.listed = std::move(listed);
  options.compile = testing::Options();
  return SizedModel::Make(std::move(source), std::move(options), nullptr);
}

/// Runs a model at some sizes, and its graph of these sizes by definition.
void ExpectEqual(const SizedModel& model, const std::string& text, const GraphSizes& sizes) {
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
  const auto wanted = RunReference(*graph, *inputs);
  ASSERT_TRUE(wanted) << wanted.error().message;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputError error = CompareOutput(model.Outputs()[i].name, outputs[i], (*wanted)[i]);
    EXPECT_TRUE(error.IsWithin(1e-5)) << error.name << " " << error.Relative();
  }
}

size_t Executables(const SizedModel& model) {
  return nlohmann::json::parse(model.Report())["executables"].size();
}

TEST(SizedModel, EqualsTheModelOfEachSize) {
  const auto model = Make(kBlock, {{"batch", {{2, 4}}}, {"length", {{12, 20}}}}, {{}, {}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->Inputs()[0].shape, (Shape{-1, -1, 32}));
  EXPECT_EQ((*model)->Outputs()[1].shape, (Shape{-1, 48}));
  for (const auto& [batch, length] : {std::pair{1, 1}, {1, 9}, {3, 10}, {2, 17}, {5, 20}, {4, 33}})
    ExpectEqual(**model, kBlock, {{"batch", batch}, {"length", length}});
  const size_t before = Executables(**model);
  for (const auto& [batch, length] : {std::pair{1, 18}, {3, 19}, {4, 38}})
    ExpectEqual(**model, kBlock, {{"batch", batch}, {"length", length}});
  EXPECT_EQ(Executables(**model), before);
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

TEST(SizedModel, WhatMixesTheBatchIsNotCut) {
  const auto model = Make(kOverBatch, {{"batch", {{8, 16}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  for (const int64_t batch : {1, 3, 9, 16, 21})
    ExpectEqual(**model, kOverBatch, {{"batch", batch}});
}

TEST(SizedModel, WhatCannotBePaddedIsCompiledForEachSize) {
  constexpr const char* kNorm = R"(graph norm {
  input x: f32[length]
  weight s: f32[length]
  weight b: f32[length]
  y = layer_norm(x, s, b)
  output y
})";
  const auto model = Make(kNorm, {{"length", {{9, 16}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(nlohmann::json::parse((*model)->Report()).contains("refusal"));
  for (const int64_t length : {5, 9, 11}) ExpectEqual(**model, kNorm, {{"length", length}});
  EXPECT_EQ(Executables(**model), 3);
}

TEST(SizedModel, KeepsSoManyExecutables) {
  const auto model = Make(kOverBatch, {{"batch", {{8, 16}}}}, {{}});
  ASSERT_TRUE(model) << model.error().message;
  for (int64_t batch = 1; batch < 3000; batch = batch * 5 / 4 + 1)
    ExpectEqual(**model, kOverBatch, {{"batch", batch}});
  EXPECT_LE(Executables(**model), 24);
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

TEST(SizedModel, ADimensionThatNoInputHasIsAnError) {
  const auto model = Make(kOverBatch, {{"batch", {{8, 16}}}, {"other", {{1, 2}}}}, {{}, {}});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message, "no input has an open dimension other");
}

}  // namespace
}  // namespace tunec
