// Tests of ONNX export. An exported graph that is read again must have equal results, within a
// tolerance for floats.
#include "graph/onnx/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "graph/onnx/export/forms.h"
#include "graph/onnx/import.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "tests/graph/core/reference_cases.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

Graph Parsed(const std::string& text) {
  auto graph = ParseGraph(text, "case.graph", RandomWeights(1));
  EXPECT_TRUE(graph) << graph.error().Format() << "\n" << text;
  return graph ? std::move(*graph) : std::move(GraphBuilder("none")).Build();
}

Result<Graph> ReadAgain(const std::string& bytes) {
  return ImportOnnxBytes(std::as_bytes(std::span(bytes)), "written.onnx", {});
}

/// A reference case without its expected output. Its constants are replaced by graph inputs with
/// the values `inputs`, so that constant folding cannot compute the result.
struct Case {
  Graph graph;
  std::vector<Array> inputs;
};

Case WithInputs(const Graph& given) {
  GraphBuilder builder(given.name());
  std::vector<Array> inputs;
  std::vector<ValueId> moved(given.values().size());
  for (const Node& node : given.nodes()) {
    std::vector<ValueId> operands;
    for (const ValueId input : node.inputs)
      operands.push_back(input.valid() ? moved[input.index] : ValueId());
    if (node.op == Op::kConstant) {
      const Value& value = given.value(node.outputs[0]);
      if (value.name == "expected") continue;
      moved[node.outputs[0].index] = *builder.AddInput(value.name, value.type);
      inputs.push_back(node.constant);
      continue;
    }
    const auto outputs = builder.AddNode(node.op, operands, node.attributes, node.name);
    EXPECT_TRUE(outputs) << outputs.error().Format();
    for (size_t o = 0; o < outputs->size(); ++o) moved[node.outputs[o].index] = (*outputs)[o];
  }
  builder.AddOutput(moved[given.outputs()[0].index], "result");
  return {std::move(builder).Build(), std::move(inputs)};
}

void ExpectSame(const Array& have, const Array& expected, const std::string& text) {
  ASSERT_EQ(have.type(), expected.type()) << text;
  ASSERT_EQ(have.shape(), expected.shape()) << text;
  double scale = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    if (std::isfinite(expected.GetDouble(i)))
      scale = std::max(scale, std::abs(expected.GetDouble(i)));
  // ONNX stores float attributes as float32. An operator that is exported as several nodes rounds
  // in each node.
  const double tolerance =
      IsFloat(expected.type()) ? (SizeOf(expected.type()) == 2 ? 2e-3 : 2e-6) : 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double a = have.GetDouble(i), b = expected.GetDouble(i);
    const bool equal = a == b || (std::isnan(a) && std::isnan(b));
    ASSERT_TRUE(equal || std::abs(a - b) <= tolerance * scale)
        << text << "element " << i << " is " << a << ", expected " << b;
  }
}

/// Returns true if the error names an operation that ONNX does not have.
bool IsKnownRejection(const Error& error) {
  return error.code == ErrorCode::kUnsupported && error.message.contains("ONNX has no");
}

TEST(ExportOnnx, EveryOperatorComesBackWithItsNumbers) {
  std::set<Op> returned;
  for (const std::string& text : LoadReferenceCases()) {
    const Case made = WithInputs(Parsed(text));
    const auto bytes = ExportOnnxBytes(made.graph);
    if (!bytes) {
      EXPECT_TRUE(IsKnownRejection(bytes.error())) << bytes.error().Format() << "\n" << text;
      continue;
    }
    const auto again = ReadAgain(*bytes);
    ASSERT_TRUE(again) << again.error().Format() << "\n" << text;
    ASSERT_EQ(again->output_names(), made.graph.output_names());
    const auto expected = RunReference(made.graph, made.inputs);
    const auto have = RunReference(*again, made.inputs);
    ASSERT_TRUE(expected) << expected.error().Format() << text;
    ASSERT_TRUE(have) << have.error().Format() << text << Print(*again);
    ExpectSame((*have)[0], (*expected)[0], text + Print(*again));
    for (const Node& node : made.graph.nodes()) returned.insert(node.op);
  }
  // Each operator must either come back or be one of these.
  const std::set<Op> not_written = {Op::kConstant, Op::kIf, Op::kWhile, Op::kScan, Op::kFree};
  for (const Op op : kAllOps)
    EXPECT_NE(returned.contains(op), not_written.contains(op)) << Name(op);
}

TEST(ExportOnnx, TheTableNamesEachOperatorOnce) {
  std::set<Op> seen;
  for (const auto part :
       {onnx_export::ElementwiseForms(), onnx_export::ContractionForms(),
        onnx_export::ReductionForms(), onnx_export::NormForms(), onnx_export::MovementForms()})
    for (const auto& form : part) EXPECT_TRUE(seen.insert(form.op).second) << Name(form.op);
}

TEST(ExportOnnx, ClipHasInfiniteBoundsThatMatter) {
  const Graph graph = Parsed(R"(graph g {
  input x: f32[3]
  low = clip(x) {min=inf}
  high = clip(x) {max=-inf}
  output low
  output high
})");
  const auto written = ExportOnnxBytes(graph);
  ASSERT_TRUE(written) << written.error().Format();
  const auto again = ReadAgain(*written);
  ASSERT_TRUE(again) << again.error().Format();
  const std::vector<Array> inputs = {Array(DataType::kF32, {3})};
  const auto results = RunReference(*again, inputs);
  ASSERT_TRUE(results) << results.error().Format();
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*results)[0].GetDouble(i), std::numeric_limits<double>::infinity());
    EXPECT_EQ((*results)[1].GetDouble(i), -std::numeric_limits<double>::infinity());
  }
}

TEST(ExportOnnx, KeepsTheNamesOfInputsAndOutputs) {
  const Graph graph = Parsed(R"(graph g {
  input x: f32[2]
  constant c: f32[2] = [1.0, 2.0]
  y = add(x, c)
  z = neg(y)
  output first = y
  output z
  output again = y
  output constant = c
  output through = x
  output y = z
})");
  const auto bytes = ExportOnnxBytes(graph);
  ASSERT_TRUE(bytes) << bytes.error().Format();
  const auto again = ReadAgain(*bytes);
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->output_names(), graph.output_names());
  Array x(DataType::kF32, {2});
  x.SetDouble(0, 3);
  const auto expected = RunReference(graph, {&x, 1});
  const auto have = RunReference(*again, {&x, 1});
  ASSERT_TRUE(expected && have);
  for (size_t i = 0; i < expected->size(); ++i)
    ExpectSame((*have)[i], (*expected)[i], Print(*again));
}

TEST(ExportOnnx, RejectsWhatOnnxHasNotAndNamesIt) {
  const Graph graph = Parsed(R"(graph g {
  input x: i32[1, 1, 4]
  input w: i32[1, 1, 2]
  first = conv(x, w)
  second = conv(first, w)
  output second
})");
  const auto bytes = ExportOnnxBytes(graph);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(bytes.error().message,
              HasSubstr("node first (conv): ONNX has no convolution of i32"));
  EXPECT_THAT(bytes.error().message, HasSubstr("node second (conv)"));
}

TEST(ExportOnnx, LargeWeightsLieBesideTheModel) {
  const Graph graph = Parsed(R"(graph g {
  input x: f32[3, 500]
  weight w: f32[500, 700]
  weight b: f32[700]
  constant small: f32[1] = [2.0]
  y = matmul(x, w)
  z = add(y, b)
  out = mul(z, small)
  output out
})");
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "tunec_export_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::string path = folder / "m.onnx";
  const Status written = ExportOnnx(graph, path, {.most_bytes_inside = 1 << 20});
  ASSERT_TRUE(written) << written.error().Format();
  EXPECT_LT(std::filesystem::file_size(path), 2000U);
  EXPECT_EQ(std::filesystem::file_size(path + ".data") / 4096, (500U * 700 * 4) / 4096 + 1);
  const auto again = ImportOnnx(path, {});
  ASSERT_TRUE(again) << again.error().Format();
  Array x(DataType::kF32, {3, 500});
  for (int64_t i = 0; i < x.size(); ++i) x.SetDouble(i, static_cast<double>(i % 17) / 8 - 1);
  const auto expected = RunReference(graph, {&x, 1});
  const auto have = RunReference(*again, {&x, 1});
  ASSERT_TRUE(expected && have);
  ExpectSame((*have)[0], (*expected)[0], "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tunec
