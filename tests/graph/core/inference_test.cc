// Tests of the operator table, and of type inference: types, completed attributes and rejections.
#include <gtest/gtest.h>

#include "graph/ops/op_table.h"
#include "graph/text/graph_text.h"

namespace tunec {
namespace {

/// Returns the error of a graph with the lines `inputs` and then `line`, or "no error".
std::string ErrorOf(const std::string& inputs, const std::string& line) {
  const std::string text = "graph g {\n  " + inputs + "\n  " + line + "\n}\n";
  const auto graph = ParseGraph(text, "g.graph", NoWeights());
  return graph ? "no error" : graph.error().Format();
}

/// Returns the type of the expression `line` over x: f32[2, 3, 4], i: i64[5] and n: f32[batch, 3].
/// On an error, returns the message.
std::string TypeOf(const std::string& line) {
  const auto graph = ParseGraph(
      "graph g {\n input x: f32[2, 3, 4]\n input i: i64[5]\n input n: f32[batch, 3]\n y = " + line +
          "\n output y\n}",
      "g.graph", NoWeights());
  if (!graph) return graph.error().message;
  const ValueType& type = graph->value(graph->outputs()[0]).type;
  return fmt::format("{} {}", Name(type.type), ShapeText(type.dims));
}

TEST(Inference, AnAxisWithoutElementsHasNoneToIndex) {
  EXPECT_EQ(ErrorOf("input x: f32[0, 4]\n  input i: i64[3]", "y = gather(x, i)"),
            "g.graph:4:3: error: gather axis 0 of 0x4 has no elements, expected some for indices "
            "of 3");
  EXPECT_EQ(
      ErrorOf("input x: f32[2, 0]\n  input i: i64[2, 1]", "y = gather_elements(x, i) {axis=1}"),
      "g.graph:4:3: error: gather_elements axis 1 of 2x0 has no elements, expected some for "
      "indices of 2x1");
  EXPECT_EQ(ErrorOf("input x: f32[0, 4]\n  input i: i64[3, 0]", "y = gather(x, i)\n  output y"),
            "no error");
  EXPECT_EQ(ErrorOf("input x: f32[2, 0]\n  input i: i64[2]", "y = gather(x, i)\n  output y"),
            "no error");
}

// The product of all sizes other than the 0 must not exceed 2^48.
TEST(Inference, LimitsSizesWhereThereAreNoElements) {
  EXPECT_EQ(ErrorOf("input x: f32[0, 1099511627776, 1099511627776]", "y = relu(x)"),
            "g.graph:2:9: error: input x has more than 2^48 elements");
  // The limit also applies before a named dimension has a size.
  EXPECT_EQ(ErrorOf("input x: f32[9223372036854775807, n]", "y = concat(x, x) {axis=0}"),
            "g.graph:2:9: error: input x has more than 2^48 elements");
  EXPECT_EQ(ErrorOf("input x: f32[0, 1099511627776]", "y = tile(x) {repeats=[1, 1099511627776]}"),
            "g.graph:3:3: error: tile repeats axis 1 1099511627776 times, expected less");
  EXPECT_EQ(ErrorOf("input x: f32[1, 1, 4]\n  input w: f32[1, 1, 2]",
                    "y = conv(x, w) {dilations=[4294967296], pads=[4294967296, 4294967296]}\n"
                    "  output y"),
            "no error");
}

// Coordinates follow the scale, so a size that contradicts the scale is an error.
TEST(Inference, ResizesToTheSizesThatItsScalesLeadTo) {
  const std::string input = "input x: f32[3, 13]";
  EXPECT_EQ(ErrorOf(input, "y = resize(x) {scales=[2147483648, 1], shape=[3, 13]}"),
            "g.graph:3:3: error: resize of axis 0 to 3 elements contradicts its scale 2147483648, "
            "which makes 6442450944 of 3");
  EXPECT_EQ(ErrorOf(input, "y = resize(x) {scales=[1, 1.5], shape=[3, 21]}"),
            "g.graph:3:3: error: resize of axis 1 to 21 elements contradicts its scale 1.5, which "
            "makes 19.5 of 13");
  EXPECT_EQ(
      ErrorOf(input, "y = resize(x) {scales=[1, -1.5]}"),
      "g.graph:3:3: error: resize scale of axis 1 is -1.5, for 13 elements, expected more than "
      "0 and less than 2^48 elements");
  for (const char* size : {"19", "20"}) {
    const std::string line =
        fmt::format("y = resize(x) {{scales=[1, 1.5], shape=[3, {}]}}\n  output y", size);
    EXPECT_EQ(ErrorOf(input, line), "no error");
  }
}

TEST(Inference, NamesTheNodeTheOperandsAndTheirValues) {
  EXPECT_EQ(ErrorOf("input a: f32[64, 32]\n  input b: f32[48, 16]", "h = matmul(a, b)"),
            "g.graph:4:3: error: matmul inner sizes differ: lhs is 64x32, rhs is 48x16");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = relu(a, a)"),
            "g.graph:3:3: error: relu has 2 operands, expected 1");
  EXPECT_EQ(ErrorOf("input a: i32[2, 3]", "h = exp(a)"),
            "g.graph:3:3: error: exp operand 0 is i32, expected a float type");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = softmax(a) {axis=2}"),
            "g.graph:3:3: error: softmax axis is 2, expected -2 to 1");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = softmax(a) {axes=2}"),
            "g.graph:3:3: error: softmax has no attribute axes");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = softmax(a) {axis=\"x\"}"),
            "g.graph:3:3: error: softmax attribute axis is a string, expected an integer");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = reshape(a)"),
            "g.graph:3:3: error: reshape needs the attribute shape");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = reshape(a) {shape=[4]}"),
            "g.graph:3:3: error: reshape sizes differ: input is 2x3 with 6 elements, shape is [4]");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = transpose(a) {perm=[0, 0]}"),
            "g.graph:3:3: error: transpose perm is [0, 0], expected a permutation of 2 axes");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = slice(a) {starts=[0, 1], ends=[2, 4]}"),
            "g.graph:3:3: error: slice of axis 1 reads 1 to 3, expected 0 to 2");
  EXPECT_EQ(ErrorOf("input a: f32[2, 3]", "h = tile(a) {repeats=[9223372036854775807, 2]}"),
            "g.graph:3:3: error: tile repeats axis 0 1152921504606846976 times, expected less");
  EXPECT_EQ(
      ErrorOf("input a: f32[2, 3]", "h = expand(a) {shape=[281474976710656, 2, 3]}"),
      "g.graph:3:3: error: expand result is 281474976710656x2x3, expected sizes of at least 0 "
      "and at most 2^48 elements");
}

TEST(Inference, NamesTheNodeWhereThereIsNoText) {
  GraphBuilder builder("g");
  const ValueId a = *builder.AddInput("a", {DataType::kF32, {2, 3}});
  const ValueId b = *builder.AddInput("b", {DataType::kF32, {2, 4}});
  const auto sum = builder.Add(Op::kAdd, {a, b}, {}, "/layer/Add");
  ASSERT_FALSE(sum.has_value());
  EXPECT_EQ(sum.error().Format(),
            "error: node /layer/Add: add shapes 2x3 and 2x4 do not broadcast: 3 against 4");
}

TEST(Inference, RejectsConvolutionsThatDoNotFit) {
  const std::string x = "input x: f32[1, 4, 5, 5]\n  ";
  EXPECT_EQ(ErrorOf(x + "input w: f32[8, 3, 3, 3]", "y = conv(x, w)"),
            "g.graph:4:3: error: conv channels differ: input is 1x4x5x5 with 4 channels, weight is "
            "8x3x3x3 in 1 group(s), for 3");
  EXPECT_EQ(ErrorOf(x + "input w: f32[8, 4, 7, 3]", "y = conv(x, w)"),
            "g.graph:4:3: error: conv window does not fit: spatial axis 0 is 5 with pads, the "
            "window reaches 7");
  EXPECT_EQ(ErrorOf(x + "input w: f32[8, 4, 3, 3]", "y = conv(x, w) {strides=[1]}"),
            "g.graph:4:3: error: conv attribute strides has 1 entries, expected 2");
  EXPECT_EQ(ErrorOf(x + "input w: f32[8, 4, 3, 3]\n  input b: f32[7]", "y = conv(x, w, b)"),
            "g.graph:5:3: error: conv bias is 7, expected 8");
}

TEST(Inference, DerivesTypes) {
  EXPECT_EQ(TypeOf("isnan(x)"), "bool 2x3x4");
  EXPECT_EQ(TypeOf("argmax(x) {axis=1, keepdims=0}"), "i64 2x4");
  EXPECT_EQ(TypeOf("gather(x, i) {axis=1}"), "f32 2x5x4");
  EXPECT_EQ(TypeOf("one_hot(i) {depth=7}"), "f32 5x7");
  EXPECT_EQ(TypeOf("reduce_sum(x) {keepdims=0}"), "f32 scalar");
  EXPECT_EQ(TypeOf("max_pool(x) {kernel=[2]}"), "f32 2x3x3");
  EXPECT_EQ(TypeOf("range() {start=0, limit=7, delta=2, to=\"i32\"}"), "i32 4");
  EXPECT_EQ(TypeOf("range() {start=0, limit=7, delta=2, to=\"bool\"}"),
            "range makes bool, expected a type of numbers");
}

TEST(Inference, CarriesNamedDimensions) {
  EXPECT_EQ(TypeOf("add(n, n)"), "f32 batchx3");
  EXPECT_EQ(TypeOf("matmul(n, n) {transpose_b=1}"), "f32 batchxbatch");
  EXPECT_EQ(TypeOf("concat(n, n) {axis=1}"), "f32 batchx6");
  EXPECT_EQ(TypeOf("reshape(n) {shape=[3]}"), "f32 3");
}

// The shapes of a graph with named sizes, at given sizes, are those of the graph with numbers.
TEST(Inference, DerivesShapesFromNamedSizes) {
  const std::string text = R"(graph g {
  input x: f32[b, 4, h, 2*w + 1]
  weight k: f32[8, 4, 3, 3]
  weight t: f32[8, 2, 4, 4]
  c = conv(x, k) {strides=[2, 2], pads=[1, 1, 1, 1]}
  m = max_pool(c) {kernel=[3, 3], strides=[2, 2]}
  u = conv_transpose(c, t) {strides=[2, 2], pads=[1, 1, 1, 1]}
  j = concat(x, x, x) {axis=0}
  p = pad(x) {pads=[0, 1, 2, 0, 0, 0, 1, 3]}
  r = tile(m) {repeats=[1, 2, 3, 1]}
  s = slice(x) {starts=[0, 1, 2, 0], ends=[1, 3, 5, 2]}
  g = reduce_sum(u) {axes=[1, 3], keepdims=0}
  a = add(x, x)
  e = transpose(c) {perm=[0, 2, 3, 1]}
  output r
})";
  const auto named = ParseGraph(text, "g.graph", RandomWeights(1));
  ASSERT_TRUE(named) << named.error().Format();
  const auto again = ParseGraph(Print(*named), "again.graph", RandomWeights(1));
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(Print(*again), Print(*named));
  for (int64_t n = 8; n < 40; ++n) {
    const GraphSizes sizes = {{"b", n % 5 + 1}, {"h", n}, {"w", n / 2 + 3}};
    const auto fixed = ParseGraph(text, "g.graph", RandomWeights(1), sizes);
    ASSERT_TRUE(fixed) << fixed.error().Format();
    for (size_t v = 0; v < fixed->values().size(); ++v) {
      const Value& expected = fixed->values()[v];
      std::vector<int64_t> shape;
      for (const Dim& dim : named->values()[v].type.dims)
        shape.push_back(Evaluate(dim, sizes).value_or(-1));
      EXPECT_EQ(shape, expected.type.Shape()) << expected.name << " at n = " << n;
    }
  }
}

TEST(Inference, CompletesAttributes) {
  const auto graph = ParseGraph(
      "graph g {\n input x: f32[1, 2, 4, 4]\n input w: f32[3, 2, 3, 3]\n"
      " c = conv(x, w)\n r = reduce_max(c) {axes=[-1, 1]}\n output r\n}",
      "g.graph", NoWeights());
  ASSERT_TRUE(graph.has_value()) << graph.error().Format();
  const Node& conv = graph->nodes()[2];
  EXPECT_EQ(conv.Ints("strides"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(conv.Ints("pads"), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(conv.Int("group"), 1);
  EXPECT_FALSE(conv.Has("group"));
  EXPECT_EQ(graph->nodes()[3].Ints("axes"), (std::vector<int64_t>{1, 3}));
}

TEST(OpTable, HasARowForEveryOperator) {
  for (const Op op : kAllOps) {
    const OpSpec& spec = SpecOf(op);
    EXPECT_EQ(spec.op, op);
    EXPECT_NE(spec.infer, nullptr) << Name(op);
    EXPECT_LE(spec.min_inputs, spec.max_inputs) << Name(op);
    EXPECT_EQ(ParseOp(Name(op)), op);
  }
  EXPECT_EQ(ParseOp("frobnicate"), std::nullopt);
}

TEST(OpTable, DefaultsHaveTheirAttributesKind) {
  for (const Op op : kAllOps) {
    for (const AttributeSpec& spec : SpecOf(op).attributes) {
      if (spec.absence != Absence::kDefault) continue;
      EXPECT_EQ(KindOf(spec.default_value), spec.kind) << Name(op) << " " << spec.name;
    }
  }
}

}  // namespace
}  // namespace tunec
