// Tests of importing whole ONNX models with shape arithmetic, dynamic dimensions, functions,
// branches and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "graph/reference.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using List = std::vector<int64_t>;

std::string MessageOf(const Model& model, const ImportOptions& options = {}) {
  const auto graph = model.Import(options);
  return graph ? "" : graph.error().Format();
}

std::vector<double> RunModel(const Model& model, const std::vector<Array>& inputs) {
  const auto graph = model.Import();
  EXPECT_TRUE(graph) << graph.error().Format();
  if (!graph) return {};
  EXPECT_TRUE(Verify(*graph));
  const auto outputs = RunReference(*graph, inputs);
  EXPECT_TRUE(outputs) << outputs.error().Format();
  return outputs ? Values(outputs->front()) : std::vector<double>();
}

/// Returns a model that reshapes x: [2, 3, 4] to [2, 12]. Nodes compute the 12 from x's shape.
Model ShapeArithmetic() {
  Model model(13);
  model.Input("x", {2, 3, 4}).Constant("one", Ints({}, {1})).Constant("two", Ints({}, {2}));
  model.Constant("axes", Ints({1}, {0})).Constant("lead", Ints({1}, {-1}));
  model.Node("Shape", {"x"}, {"shape"}).Node("Gather", {"shape", "one"}, {"h"});
  model.Node("Gather", {"shape", "two"}, {"w"}).Node("Mul", {"h", "w"}, {"hw"});
  model.Node("Unsqueeze", {"hw", "axes"}, {"tail"});
  model.Node("Concat", {"lead", "tail"}, {"target"}, {{"axis", 0}});
  model.Node("Reshape", {"x", "target"}, {"y"}).Output("y");
  return model;
}

TEST(OnnxModel, ShapeArithmeticLeavesNoNodes) {
  const auto graph = ShapeArithmetic().Import();
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_EQ(graph->nodes().size(), 2u);  // the input and the reshape
  EXPECT_THAT(graph->value(graph->outputs().front()).type.Shape(), ElementsAre(2, 12));
  EXPECT_THAT(graph->output_names(), ElementsAre("y"));
}

TEST(OnnxModel, OpenDimensionsAreListedTogether) {
  Model model(17);
  model.Input("image", {-1, 3, -1}).Input("mask", {-1}).Input("fixed", {3});
  model.Node("Relu", {"image"}, {"y"}).Output("y");
  model.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("batch");
  EXPECT_THAT(MessageOf(model),
              AllOf(HasSubstr("2 inputs have open dimensions"),
                    HasSubstr("'image' is [batch, 3, image.2]"), HasSubstr("'mask' is [mask.0]"),
                    HasSubstr("--dim batch=1 --dim image.2=16 --dim mask.0=1")));
  const auto graph = model.Import({{{"image", {2, 3, 5}}, {"mask", {1}}}});
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_THAT(graph->value(graph->outputs().front()).type.Shape(), ElementsAre(2, 3, 5));
}

// Slices and pads without effect may have an effect at other sizes, so NoOps::kRetained imports
// them.
TEST(OnnxModel, KeepsWhatDoesNothingWhereThatIsAskedFor) {
  Model model(17);
  model.Input("x", {2, 3});
  model.Constant("pads", Array(DataType::kI64, {4})).Constant("begin", Array(DataType::kI64, {1}));
  Array end(DataType::kI64, {1});
  end.SetInt(0, 2);
  model.Constant("end", end).Node("Pad", {"x", "pads"}, {"p"});
  model.Node("Slice", {"p", "begin", "end"}, {"s"}).Node("Relu", {"s"}, {"y"}).Output("y");
  const auto dropped = model.Import();
  const auto retained = model.Import({.no_ops = NoOps::kRetained});
  ASSERT_TRUE(dropped) << dropped.error().Format();
  ASSERT_TRUE(retained) << retained.error().Format();
  EXPECT_EQ(dropped->nodes().size(), 2U);
  EXPECT_EQ(retained->nodes().size(), 4U);
}

/// Returns a model that reverses axis 0 of x. The model declares these sizes of its input and
/// output. A size of -1 is declared without a number.
Model Declared(std::vector<int64_t> input, const List& output) {
  Model model(17);
  model.Input("x", std::move(input)).Constant("start", Ints({1}, {-1}));
  model.Constant("end", Ints({1}, {INT64_MIN})).Constant("axis", Ints({1}, {0}));
  model.Node("Slice", {"x", "start", "end", "axis", "start"}, {"y"}).Output("y");
  auto& type = *model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape();
  for (const int64_t size : output) {
    auto* dim = type.mutable_shape()->add_dim();
    if (size >= 0) dim->set_dim_value(size);
  }
  return model;
}

TEST(OnnxModel, DeclaredSizesOfOutputsHold) {
  EXPECT_THAT(MessageOf(Declared({3, 4}, {2, 4})),
              HasSubstr("graph output 'y' is 3x4, expected 2x4 as the model declares it"));
  EXPECT_THAT(MessageOf(Declared({3, 4}, {3, 4, 1})), HasSubstr("expected 3x4x1"));
  EXPECT_EQ(MessageOf(Declared({3, 4}, {3, 4})), "");
}

// Exporters may write 0, 1 or nothing for an unknown size.
TEST(OnnxModel, UnknownSizesOfOutputsAreAnything) {
  EXPECT_EQ(MessageOf(Declared({3, 4}, {-1, 4})), "");
  EXPECT_EQ(MessageOf(Declared({3, 4}, {0, 4})), "");
  EXPECT_EQ(MessageOf(Declared({3, 4}, {})), "");
  ImportOptions options;
  options.shapes["x"] = {3, 4};
  EXPECT_EQ(MessageOf(Declared({-1, 4}, {1, 4}), options), "");
  EXPECT_THAT(MessageOf(Declared({-1, 4}, {1, 4, 1}), options), HasSubstr("expected 1x4x1"));
}

TEST(OnnxModel, OptionsFixNamedDimensionsEverywhere) {
  Model model(17);
  model.Input("a", {-1}).Input("b", {-1});
  for (auto& input : *model.graph().mutable_input()) {
    input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
        "n");
  }
  model.Node("Add", {"a", "b"}, {"y"}).Output("y");
  EXPECT_TRUE(model.Import({{{"a", {4}}}}));
  EXPECT_THAT(MessageOf(model, {{{"a", {4}}, {"b", {5}}}}),
              HasSubstr("dimension 'n' is given as 4, and as 5"));
}

// Returns a model of two inputs that share the dimension `n`. The second input also has a dimension
// of size `second`. For -1, this dimension is dynamic and has no name.
Model WithNamedDims(int64_t second) {
  Model model(17);
  model.Input("a", {-1}).Input("b", {-1, second});
  for (auto& input : *model.graph().mutable_input()) {
    input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
        "n");
  }
  model.Node("Relu", {"a"}, {"y"}).Output("y").Node("Relu", {"b"}, {"z"}).Output("z");
  return model;
}

TEST(OnnxModel, SizesOfNamedDimensions) {
  const Model model = WithNamedDims(3);
  const auto graph = model.Import({.shapes = {}, .constants = {}, .dims = {{"n", 4}}});
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_THAT(graph->value(graph->outputs().front()).type.Shape(), ElementsAre(4));
  EXPECT_THAT(MessageOf(model, {.shapes = {}, .constants = {}, .dims = {{"m", 4}}}),
              HasSubstr("'m', which no input has; the model's open dimensions are n"));
  EXPECT_THAT(MessageOf(model, {.shapes = {{"a", {5}}}, .constants = {}, .dims = {{"n", 4}}}),
              HasSubstr("dimension 'n' is given as 4, and as 5 by the shape of input 'a'"));
}

TEST(OnnxModel, OpenDimensionsAreRecommendedByTheirNames) {
  EXPECT_THAT(
      MessageOf(WithNamedDims(3)),
      testing::EndsWith("2 inputs have open dimensions: 'a' is [n], 'b' is [n, 3]; fix them, for "
                        "example with --dim n=1, or with arrays: run MODEL --inputs FILE.npz"));
  EXPECT_THAT(MessageOf(WithNamedDims(-1)),
              HasSubstr("for example with --dim n=1 --dim b.1=16, or"));
  EXPECT_THAT(MessageOf(WithNamedDims(-1),
                        {.shapes = {}, .constants = {}, .spelling = OptionSpelling::kJson}),
              testing::EndsWith(R"(with "dims": {"n": 1, "b.1": 16})"));
}

// Numbers without a type get the input's type. Each number must keep its value.
TEST(OnnxModel, UntypedConstants) {
  Model model;
  model.Input("x", {1, 2}).Input("shape", {2}, DataType::kI64);
  model.Node("Expand", {"x", "shape"}, {"y"}).Output("y");
  ImportOptions options;
  options.untyped_constants = {"shape"};
  options.constants.emplace("shape", Typed(DataType::kI64, {2}, {3, 2}));
  const auto graph = model.Import(options);
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_THAT(graph->value(graph->outputs().front()).type.Shape(), ElementsAre(3, 2));
  options.constants.at("shape") = Typed(DataType::kF64, {2}, {2.5, 2});
  EXPECT_THAT(MessageOf(model, options), HasSubstr("has 2.5, expected i64"));
}

TEST(OnnxModel, ArraysGiveOpenShapes) {
  const Model model = WithNamedDims(-1);
  ImportOptions options;
  options.shapes_of_arrays = {{"b", {4, 7}}, {"nowhere", {1}}};
  const auto graph = model.Import(options);
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_THAT(graph->value(graph->outputs()[0]).type.Shape(), ElementsAre(4));
  EXPECT_THAT(graph->value(graph->outputs()[1]).type.Shape(), ElementsAre(4, 7));
  options.shapes = {{"b", {5, 7}}};  // given shapes have priority
  EXPECT_THAT(model.Import(options)->value(model.Import(options)->outputs()[0]).type.Shape(),
              ElementsAre(5));
}

TEST(OnnxModel, UnsupportedNodesAreCountedByOperator) {
  Model model(17);
  model.Input("x", {4});
  for (const char* output : {"a", "b", "c", "d", "e", "f"})
    model.Node("Foo", {"x"}, {output}, {}, "com.acme");
  model.Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(MessageOf(model),
              HasSubstr("6 nodes are not supported: com.acme.Foo (6 nodes: 'Foo_a', 'Foo_b', "
                        "'Foo_c', 'Foo_d' and 2 more)"));
}

TEST(OnnxModel, WrongShapeOptions) {
  Model model(17);
  model.Input("x", {1, 3}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(MessageOf(model, {{{"z", {1}}}}), HasSubstr("the model's inputs are 'x'"));
  EXPECT_THAT(MessageOf(model, {{{"x", {1}}}}), HasSubstr("another rank than the model's [1, 3]"));
  EXPECT_THAT(MessageOf(model, {{{"x", {2, 3}}}}), HasSubstr("does not fit the model's [1, 3]"));
  const auto option = ParseShapeOption("x=1x3x224x224");
  ASSERT_TRUE(option);
  EXPECT_EQ(option->first, "x");
  EXPECT_THAT(option->second, ElementsAre(1, 3, 224, 224));
  for (const char* text : {"x", "=1", "x=1x", "x=axb", "x=-1", "x=1y2"}) {
    EXPECT_FALSE(ParseShapeOption(text)) << text;
  }
}

TEST(OnnxModel, AllUnsupportedNodesAreListed) {
  Model model(17);
  model.Input("x", {4});
  model.Node("StringNormalizer", {"x"}, {"a"})
      .Node("Relu", {"a"}, {"b"})
      .Node("ImageDecoder", {"b"}, {"c"});
  model.Node("Foo", {"x"}, {"d"}, {}, "com.acme").Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(MessageOf(model), AllOf(HasSubstr("3 nodes are not supported"),
                                      HasSubstr("StringNormalizer ('StringNormalizer_a')"),
                                      HasSubstr("ImageDecoder ('ImageDecoder_c')"),
                                      HasSubstr("com.acme.Foo ('Foo_d')")));
}

TEST(OnnxModel, InitializersMayBeInputsToo) {
  Model model(9);
  model.Input("x", {2}).Input("w", {2}).Constant("w", Floats({2}, {10, 20}));
  model.Node("Add", {"x", "w"}, {"y"}).Output("y");
  EXPECT_THAT(RunModel(model, {Floats({2}, {1, 2})}), ElementsAre(11, 22));
}

TEST(OnnxModel, FunctionsAreInlined) {
  Model model(17);
  auto& function = *model.proto().add_functions();
  function.set_name("Affine");
  function.set_domain("local");
  function.add_opset_import()->set_version(17);
  function.add_input("a");
  function.add_output("b");
  function.add_attribute("slope");
  AddNode(*function.mutable_node(), "LeakyRelu", {"a"}, {"t"}, {{"alpha", 0.0}});
  auto& reference = *function.mutable_node(0)->mutable_attribute(0);
  reference.clear_f();
  reference.set_ref_attr_name("slope");
  AddNode(*function.mutable_node(), "Add", {"t", "t"}, {"b"});
  model.proto().add_opset_import()->set_domain("local");
  model.Input("x", {2});
  model.Node("Affine", {"x"}, {"u"}, {{"slope", 0.5}}, "local");
  model.Node("Affine", {"u"}, {"y"}, {{"slope", 0.25}}, "local").Output("y");
  EXPECT_THAT(RunModel(model, {Floats({2}, {-4, 1})}), ElementsAre(-2, 4));
}

TEST(OnnxModel, FunctionsThatCallThemselvesEnd) {
  Model model(17);
  auto& function = *model.proto().add_functions();
  function.set_name("F");
  function.set_domain("local");
  function.add_input("a");
  function.add_output("c");
  AddNode(*function.mutable_node(), "F", {"a"}, {"b"}, {}, "local");
  AddNode(*function.mutable_node(), "F", {"b"}, {"c"}, {}, "local");
  model.Input("x", {2}).Node("F", {"x"}, {"y"}, {}, "local").Output("y");
  EXPECT_THAT(MessageOf(model), HasSubstr("nested deeper than 64 levels"));
}

TEST(OnnxModel, BranchesWithKnownConditionsAreTaken) {
  onnx::GraphProto then_branch;
  onnx::GraphProto else_branch;
  AddNode(*then_branch.mutable_node(), "Relu", {"x"}, {"t"});
  then_branch.add_output()->set_name("t");
  AddNode(*else_branch.mutable_node(), "Neg", {"x"}, {"e"});
  else_branch.add_output()->set_name("e");
  Model model(17);
  model.Input("x", {2}).Constant("c", Typed(DataType::kBool, {}, {0}));
  model.Node("If", {"c"}, {"y"}, {{"then_branch", then_branch}, {"else_branch", else_branch}})
      .Output("y");
  EXPECT_THAT(RunModel(model, {Floats({2}, {-4, 1})}), ElementsAre(4, -1));
  Model dynamic(17);
  dynamic.Input("x", {2}).Input("c", {}, DataType::kBool);
  dynamic.Node("If", {"c"}, {"y"}, {{"then_branch", then_branch}, {"else_branch", else_branch}})
      .Output("y");
  EXPECT_THAT(MessageOf(dynamic), HasSubstr("condition is computed at run time"));
}

TEST(OnnxModel, NamesAreChecked) {
  const auto relu = [] {
    Model model(17);
    model.Input("x", {2});
    return model;
  };
  EXPECT_THAT(MessageOf(relu().Node("Relu", {"z"}, {"y"}).Output("y")),
              HasSubstr("input 'z' is not made by an earlier node"));
  EXPECT_THAT(MessageOf(relu().Node("Relu", {"b"}, {"a"}).Node("Relu", {"a"}, {"b"}).Output("b")),
              HasSubstr("a cycle"));
  EXPECT_THAT(MessageOf(relu().Node("Relu", {"x"}, {"y"}).Node("Neg", {"x"}, {"y"}).Output("y")),
              HasSubstr("value 'y' is defined twice"));
  EXPECT_THAT(MessageOf(relu().Node("Relu", {"x"}, {"x"}).Output("x")),
              HasSubstr("value 'x' is defined twice"));
  EXPECT_THAT(MessageOf(relu().Node("Relu", {"x"}, {"y"}).Output("z")),
              HasSubstr("output 'z' is not made by any node"));
  EXPECT_THAT(MessageOf(relu().Input("x", {3}).Node("Relu", {"x"}, {"y"}).Output("y")),
              HasSubstr("two graph inputs"));
  EXPECT_THAT(MessageOf(relu()
                            .Constant("w", Counting({1}))
                            .Constant("w", Counting({1}))
                            .Node("Relu", {"x"}, {"y"})
                            .Output("y")),
              HasSubstr("two initializers have the name 'w'"));
  EXPECT_THAT(MessageOf(relu().Node("Relu", {"x"}, {"y"})), HasSubstr("no outputs"));
  EXPECT_THAT(MessageOf(relu().Node("Add", {"x"}, {"y"}).Output("y")),
              HasSubstr("node 'Add_y' (Add): input 1 is missing"));
}

TEST(OnnxModel, OpsetsOutsideTheRange) {
  for (const int64_t opset : {0, 29}) {
    Model model(opset);
    model.Input("x", {1}).Node("Relu", {"x"}, {"y"}).Output("y");
    EXPECT_THAT(MessageOf(model), HasSubstr("expected 1 to 28"));
  }
}

TEST(OnnxModel, InputsBoundToConstants) {
  Model model(17);
  model.Input("x", {2, 3}).Input("shape", {2}, DataType::kI64);
  model.Node("Reshape", {"x", "shape"}, {"y"}).Output("y");
  EXPECT_THAT(MessageOf(model), HasSubstr("input 1 ('shape') is computed at run time"));
  const auto graph = model.Import({.shapes = {}, .constants = {{"shape", Ints({2}, {3, -1})}}});
  ASSERT_TRUE(graph) << graph.error().Format();
  ASSERT_EQ(graph->inputs().size(), 1u);
  EXPECT_THAT(graph->value(graph->outputs()[0]).type.Shape(), ElementsAre(3, 2));

  const auto message = [&](const std::string& name, const Array& value) {
    const auto result = model.Import({.shapes = {{"x", {2, 3}}}, .constants = {{name, value}}});
    return result ? "" : result.error().message;
  };
  EXPECT_THAT(message("shape", Counting({2})), HasSubstr("is f32, expected i64"));
  EXPECT_THAT(message("shape", Ints({3}, {1, 2, 3})), HasSubstr("does not fit the model's [2]"));
  EXPECT_THAT(message("z", Counting({2})), HasSubstr("given for 'z', which is not an input"));
  EXPECT_THAT(message("x", Counting({6})), HasSubstr("differs from its constant's shape 6"));
}

TEST(OnnxModel, SameWeightsAndOutputsMayBeShared) {
  Model model(17);
  model.Input("x", {2}).Constant("w", Counting({2}, 1));
  model.Node("Add", {"x", "w"}, {"a"})
      .Node("Mul", {"a", "w"}, {"y"})
      .Node("Identity", {"y"}, {"z"});
  model.Output("y").Output("z").Output("w").Output("x");
  const auto graph = model.Import();
  ASSERT_TRUE(graph) << graph.error().Format();
  EXPECT_TRUE(Verify(*graph));
  EXPECT_THAT(graph->output_names(), ElementsAre("y", "z", "w", "x"));
  EXPECT_EQ(graph->nodes().size(), 4u);  // x, w, add, mul
}

TEST(OnnxModel, IntegerDivisionByZeroInShapeArithmetic) {
  Model model(17);
  model.Input("x", {2}).Constant("a", Ints({1}, {4})).Constant("b", Ints({1}, {0}));
  model.Node("Div", {"a", "b"}, {"s"}).Node("Expand", {"x", "s"}, {"y"}).Output("y");
  EXPECT_THAT(MessageOf(model), HasSubstr("division by zero"));
}

}  // namespace
}  // namespace tunec::onnx_test
