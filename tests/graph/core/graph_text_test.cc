// Tests of .graph texts and files, of GraphBuilder, Rebuild and Verify, and of RunReference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "graph/reference.h"
#include "graph/text/graph_text.h"

namespace tunec {
namespace {

Result<Graph> Parse(const std::string& text) {
  return ParseGraph(text, "g.graph", RandomWeights(1));
}

std::string ErrorOf(const std::string& text) {
  const auto graph = Parse(text);
  return graph ? "no error" : graph.error().Format();
}

constexpr const char* kNetwork = R"(graph mlp {
  input x: f32[64, 1024]
  weight w0: f32[1024, 4096] init=uniform(-0.03, 0.03)
  weight "layer 1/b": f32[4096] from "b" init=normal(0.5)
  constant two: f32[] = 2.0
  constant ids: i64[3] = [1, -2, 3]
  constant empty: f32[0] = []
  h = matmul(x, w0): f32[64, 4096] layout [64, 512, 8] (i, j) -> [i, floor(j/8), j mod 8]
  s = add(h, "layer 1/b") as "/fc1/Add": f32[64, 4096]
  r = gelu(s) {approximate="tanh"}: f32[64, 4096]
  "output" = leaky_relu(r) {alpha=0.1}: f32[64, 4096]
  output y = "output"
  output h
}
)";

const Node& ProducerOf(const Graph& graph, std::string_view name) {
  return graph.node(std::ranges::find(graph.values(), name, &Value::name)->producer);
}

TEST(GraphText, PrintsWhatItParsed) {
  const auto graph = Parse(kNetwork);
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_TRUE(Verify(*graph).has_value()) << Verify(*graph).error().Format();
  EXPECT_EQ(Print(*graph), kNetwork);
  EXPECT_EQ(ProducerOf(*graph, "s").name, "/fc1/Add");
  EXPECT_EQ(ProducerOf(*graph, "h").where.line, 8);
}

TEST(GraphText, KeepsNamedDimensionsAndComments) {
  const auto graph = Parse(
      "graph g { # a comment\n  input x: f32[batch, \"seq len\", 3]\n  // another\n"
      "  y = relu(x)\n  output y\n}");
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_EQ(Print(*graph),
            "graph g {\n  input x: f32[batch, \"seq len\", 3]\n"
            "  y = relu(x): f32[batch, \"seq len\", 3]\n  output y\n}\n");
}

constexpr const char* kControl = R"(graph g {
  input c: bool[]
  input x: f32[4, 2]
  constant n: i64[] = 3
  y, z = if(c, x): f32[4, 2], f32[2] graph then {
    input a: f32[4, 2]
    b = relu(a): f32[4, 2]
    s = reduce_sum(a) {axes=[0], keepdims=0}: f32[2]
    output b
    output s
  } graph else {
    input a: f32[4, 2]
    b = neg(a): f32[4, 2]
    s = reduce_max(a) {axes=[0], keepdims=0}: f32[2]
    output b
    output s
  }
  k = while(n): i64[] graph condition {
    input i: i64[]
    constant zero: i64[] = 0
    more = gt(i, zero): bool[]
    output more
  } graph body {
    input i: i64[]
    constant one: i64[] = 1
    less = sub(i, one): i64[]
    output less
  }
  last, sums = scan(z, y) {states=1}: f32[2], f32[4, 2] graph step {
    input state: f32[2]
    input row: f32[2]
    sum = add(state, row): f32[2]
    output sum
    output out = sum
  }
  free(y)
  output last
  output sums
  output k
}
)";

TEST(GraphText, ControlOperatorsNestGraphs) {
  const auto graph = Parse(kControl);
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  EXPECT_TRUE(Verify(*graph).has_value()) << Verify(*graph).error().Format();
  EXPECT_EQ(Print(*graph), kControl);
  const auto copy = Rebuild(*graph, [](auto&, auto&, auto&) { return std::vector<ValueId>{}; });
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(Print(*copy), kControl);
}

TEST(GraphText, RejectsWithAPlace) {
  EXPECT_EQ(ErrorOf("graph g {\n  y = relu(x)\n}"),
            "g.graph:2:12: error: value x is not defined above");
  EXPECT_EQ(ErrorOf("graph g {\n  input x: f32[2]\n  y = frob(x)\n}"),
            "g.graph:3:7: error: frob is no operator");
  EXPECT_EQ(ErrorOf("graph g {\n  input x: f31[2]\n}"),
            "g.graph:2:12: error: f31 is not a type, expected a type such as f32");
  EXPECT_EQ(ErrorOf("graph g {\n  input x: f32[2]\n  x = relu(x)\n}"),
            "g.graph:3:3: error: value x is already defined");
  EXPECT_EQ(ErrorOf("graph g {\n  input x: f32[2]\n  y = relu(x): f32[3]\n}"),
            "g.graph:3:16: error: value y is stated as f32 3, but is f32 2");
  EXPECT_EQ(ErrorOf("graph g {\n  constant c: f32[1000000000, 4] = [1.0]\n}"),
            "g.graph:2:36: error: constant has 1 elements, expected 4000000000 for 1000000000x4");
  EXPECT_EQ(
      ErrorOf("graph g {\n  weight w: f32[1000000000, 4000]\n}"),
      "g.graph:2:10: error: weight w of shape [1000000000, 4000] is larger than 34359738368 bytes");
  EXPECT_EQ(ErrorOf("graph g {\n  input x: f32[-1]\n}"),
            "g.graph:2:9: error: input x has a dimension of -1, expected at least 0");
  EXPECT_EQ(ErrorOf("graph g {\n  input x: f32[2]\n  y = relu(x)\n}"),
            "g.graph:4:1: error: graph g has no output, expected at least one");
  EXPECT_NE(ErrorOf("graph g {\n  input x: f32[2]"), "no error");
  EXPECT_NE(ErrorOf("graph g {\n}\ngraph"), "no error");
  EXPECT_NE(ErrorOf(""), "no error");
}

TEST(GraphText, RejectsDeepNesting) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "graph g {\n if() ";
  EXPECT_EQ(ErrorOf(text), "g.graph:18:7: error: graphs nest deeper than 16");
}

TEST(GraphText, EveryTruncationIsAnErrorNotACrash) {
  const std::string text = kControl;
  for (size_t size = 0; size + 2 < text.size(); ++size)
    EXPECT_FALSE(Parse(text.substr(0, size)).has_value()) << size;
}

TEST(GraphBuilder, AppendsNumbersToTakenNames) {
  GraphBuilder builder("g");
  const ValueId x = *builder.AddInput("x", {DataType::kF32, {2}});
  EXPECT_FALSE(builder.AddInput("x", {DataType::kF32, {2}}).has_value());
  const ValueId a = *builder.Add(Op::kRelu, {x}, {}, "x");
  const ValueId b = *builder.Add(Op::kRelu, {a});
  const ValueId c = *builder.Add(Op::kRelu, {b});
  builder.RenameValue(c, "x");
  EXPECT_EQ(builder.graph().value(a).name, "x_1");
  EXPECT_EQ(builder.graph().value(b).name, "relu");
  EXPECT_EQ(builder.graph().value(c).name, "x_2");
  builder.AddOutput(c, "y");
  EXPECT_TRUE(Verify(std::move(builder).Build()).has_value());
}

TEST(Rebuild, ReplacesNodesAndKeepsTheRest) {
  const auto graph = Parse(kNetwork);
  ASSERT_TRUE(graph.has_value());
  const auto replaced = Rebuild(*graph,
                                [](const Node& node, const std::vector<ValueId>& inputs,
                                   GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                                  if (node.op != Op::kGelu) return std::vector<ValueId>{};
                                  return builder.AddNode(Op::kRelu, inputs, {}, node.name);
                                });
  ASSERT_TRUE(replaced.has_value()) << replaced.error().Format();
  std::string expected = kNetwork;
  const std::string gelu = "gelu(s) {approximate=\"tanh\"}";
  expected.replace(expected.find(gelu), gelu.size(), "relu(s)");
  EXPECT_EQ(Print(*replaced), expected);
  EXPECT_TRUE(Verify(*replaced).has_value());
}

TEST(Verify, RejectsALayoutOutsideItsStorage) {
  GraphBuilder builder("g");
  const ValueId x = *builder.AddInput("x", {DataType::kF32, {10, 4}});
  builder.SetLayout(x, {{10, 3}, {IndexExpr::Var(VarId(0)), IndexExpr::Var(VarId(1))}});
  const Graph graph = std::move(builder).Build();
  ASSERT_FALSE(Verify(graph).has_value());
  EXPECT_EQ(Verify(graph).error().message,
            "value x has storage index 0 to 3 in dimension 1, expected 0 to 2");
}

TEST(Verify, RejectsOutputsOfOneName) {
  GraphBuilder builder("g");
  const ValueId x = *builder.AddInput("x", {DataType::kF32, {10, 4}});
  builder.AddOutput(x, "y");
  builder.AddOutput(x, "y");
  EXPECT_EQ(Verify(std::move(builder).Build()).error().message,
            "output name \"y\" is empty or taken");
}

TEST(RunReference, ChecksItsInputs) {
  const auto graph = Parse("graph g {\n  input x: f32[2]\n  y = relu(x)\n  output y\n}");
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(RunReference(*graph, {}).error().message, "graph g got 0 inputs, expected 1");
  const Array wrong_type(DataType::kI32, {2}), wrong_shape(DataType::kF32, {3});
  EXPECT_EQ(RunReference(*graph, {&wrong_type, 1}).error().message, "input x is i32, expected f32");
  EXPECT_EQ(RunReference(*graph, {&wrong_shape, 1}).error().message, "input x is 3, expected 2");
}

TEST(RunReference, TakesTheNearestIndexInRange) {
  const auto graph = Parse(
      "graph g {\n  constant x: f32[3] = [10, 20, 30]\n  input i: i64[6]\n"
      "  y = gather(x, i)\n  z = gather_elements(x, i)\n  output y\n  output z\n}");
  ASSERT_TRUE(graph.has_value());
  Array indices(DataType::kI64, {6});
  const std::vector<int64_t> given = {INT64_MIN, -4, -3, 2, 3, INT64_MAX};
  for (int64_t i = 0; i < 6; ++i) indices.SetInt(i, given[i]);
  const auto outputs = RunReference(*graph, {&indices, 1});
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  for (const Array& output : *outputs)
    EXPECT_THAT(output.As<float>(), testing::ElementsAre(10, 10, 10, 30, 30, 30));
}

std::string Padded(std::string_view type, std::string_view pads, const GraphSizes& sizes) {
  const std::string text = fmt::format(
      "graph g {{\n  input x: f32[{}]\n  y = pad(x) {{pads=[{}]}}\n  output y\n}}", type, pads);
  const auto graph = ParseGraph(text, "g.graph", RandomWeights(1), sizes);
  return graph ? Print(*graph) : graph.error().Format();
}

TEST(GraphText, SizesAreExpressions) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(Padded("3*h + 1, n*(n - 1)", "min(h, 2), 0, -(n/2), 0", {{"h", 4}, {"n", 3}}),
              AllOf(HasSubstr("input x: f32[13, 6]"), HasSubstr("pads=[2, 0, -1, 0]")));
  EXPECT_THAT(Padded("(n + 63)/64*64", "-3/2, 2*n", {{"n", 70}}),
              AllOf(HasSubstr("input x: f32[128]"), HasSubstr("pads=[-2, 140]")));
  EXPECT_THAT(Padded("max(n, 7) + -n mod 4", "n mod 3, 0", {{"n", 5}}),
              AllOf(HasSubstr("input x: f32[10]"), HasSubstr("pads=[2, 0]")));
  EXPECT_THAT(Padded("n + m", "m, 0", {{"n", 5}}),
              AllOf(HasSubstr("input x: f32[m + 5]"), HasSubstr("pads=[m, 0]"),
                    HasSubstr(": f32[2*m + 5]")));
  EXPECT_THAT(Padded("n/n*4", "0, 0", {{"n", 5}}), HasSubstr("input x: f32[4]"));
  EXPECT_EQ(Padded("n/(n - 5)", "0, 0", {{"n", 5}}),
            "g.graph:2:16: error: size n/(n - 5) is divided by 0 or beyond 2^60");
  EXPECT_EQ(Padded("n/0", "0, 0", {{"n", 5}}), "g.graph:2:17: error: a size is divided by 0");
  EXPECT_EQ(Padded("n", "0, 0", {{"n", -1}}),
            "error: the size of dimension n is -1, expected at least 0");
}

TEST(GraphText, NamesOfSizesReadBack) {
  const auto one_hot = [](std::string_view depth) {
    const std::string text = fmt::format(
        "graph g {{\n  input x: i64[4]\n  y = one_hot(x) {{depth={}}}\n  output y\n}}", depth);
    const auto graph = ParseGraph(text, "g.graph", RandomWeights(1));
    return graph ? Print(*graph) : graph.error().Format();
  };
  for (const std::string& text :
       {Padded("\"seq len\" + 1, \"graph\" + 1", "\"seq len\", 1*\"inf\", \"min\", 0", {}),
        Padded("layout*2, \"a b\"", "nan*2, 0, 0, (\"as\")", {}), one_hot("(\"seq len\")"),
        one_hot("2*\"weight\"")}) {
    const auto again = ParseGraph(text, "again.graph", RandomWeights(1));
    ASSERT_TRUE(again) << text << again.error().Format();
    EXPECT_EQ(Print(*again), text);
  }
}

TEST(GraphFile, WritesTextAndWeightsThatReadBack) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("tunec_graph_{}", getpid());
  std::filesystem::create_directories(folder);
  const auto path = folder / "net.graph";
  const auto graph = Parse(
      "graph g {\n  input x: f32[2, 3]\n  weight w: f32[3, 2] from \"fc.w\"\n"
      "  y = matmul(x, w)\n  output y\n}");
  ASSERT_TRUE(graph.has_value());
  ASSERT_TRUE(WriteGraphFile(*graph, path).has_value());
  const auto read = ReadGraphFile(path, std::nullopt);
  ASSERT_TRUE(read.has_value()) << read.error().Format();
  EXPECT_EQ(Print(*read), Print(*graph));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(read->nodes()[1].constant.GetDouble(i), graph->nodes()[1].constant.GetDouble(i));
  std::filesystem::remove(folder / "net.safetensors");
  EXPECT_NE(ReadGraphFile(path, std::nullopt).error().message.find("--random-weights"),
            std::string::npos);
  EXPECT_TRUE(ReadGraphFile(path, 1).has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tunec
