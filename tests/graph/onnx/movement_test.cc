// Tests of the ONNX handlers of operators that move elements, resize, or make shapes and constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/passes/pipeline.h"
#include "graph/reference.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using List = std::vector<int64_t>;

Array Vector(List values) {
  const auto size = static_cast<int64_t>(values.size());
  return Ints({size}, values);
}

TEST(OnnxShape, Reshape) {
  const auto shape = [](List sizes, int allow_zero = 0) {
    return Eval({.op = "Reshape",
                 .attributes = {{"allowzero", allow_zero}},
                 .operands = {Counting({2, 3, 4}), Vector(sizes)},
                 .constants = {1}})
        .shape();
  };
  EXPECT_THAT(shape({4, 6}), ElementsAre(4, 6));
  EXPECT_THAT(shape({0, -1}), ElementsAre(2, 12));
  EXPECT_THAT(shape({-1}), ElementsAre(24));
  const auto error = [](List sizes) {
    return ErrorOf(
        {.op = "Reshape", .operands = {Counting({2, 3}), Vector(sizes)}, .constants = {1}});
  };
  EXPECT_THAT(error({4, 2}), HasSubstr("element counts differ"));
  EXPECT_THAT(error({-1, -1}), HasSubstr("-1 stands twice"));
  EXPECT_THAT(error({4, -1}), HasSubstr("no size for -1 fits"));
  EXPECT_THAT(error({2, 3, 0}), HasSubstr("0 copies"));
  EXPECT_THAT(error({int64_t{1} << 62, 4, 4}), HasSubstr("too many elements"));
  EXPECT_THAT(Eval({.op = "Reshape",
                    .attributes = {{"allowzero", 1}},
                    .operands = {Counting({0, 3}), Vector({3, 0})},
                    .constants = {1}})
                  .shape(),
              ElementsAre(3, 0));
}

TEST(OnnxShape, FlattenSqueezeUnsqueeze) {
  const Array x = Counting({1, 2, 1, 3});
  const auto shape = [&](const std::string& op, std::vector<Attr> attributes, int64_t opset = 11) {
    return Eval({.op = op, .attributes = attributes, .operands = {x}, .opset = opset}).shape();
  };
  EXPECT_THAT(shape("Flatten", {}), ElementsAre(1, 6));
  EXPECT_THAT(shape("Flatten", {{"axis", 0}}), ElementsAre(1, 6));
  EXPECT_THAT(shape("Flatten", {{"axis", -1}}), ElementsAre(2, 3));
  EXPECT_THAT(shape("Squeeze", {}), ElementsAre(2, 3));
  EXPECT_THAT(shape("Squeeze", {{"axes", List{0}}}), ElementsAre(2, 1, 3));
  EXPECT_THAT(shape("Unsqueeze", {{"axes", List{0, -1}}}), ElementsAre(1, 1, 2, 1, 3, 1));
  EXPECT_THAT(
      Eval({.op = "Squeeze", .operands = {x, Vector({2})}, .constants = {1}, .opset = 13}).shape(),
      ElementsAre(1, 2, 3));
  EXPECT_THAT(
      ErrorOf({.op = "Squeeze", .attributes = {{"axes", List{1}}}, .operands = {x}, .opset = 11}),
      HasSubstr("axis 1 has size 2, expected 1"));
}

TEST(OnnxShape, TransposeExpandTileConcat) {
  const Array x = Counting({2, 3});
  EXPECT_THAT(Values(Eval({.op = "Transpose", .operands = {x}})), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(
      Values(
          Eval({.op = "Expand", .operands = {Counting({2, 1}), Vector({1, 2})}, .constants = {1}})),
      ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(
      Eval({.op = "Expand", .operands = {Counting({3, 1}), Vector({2, 1, 6})}, .constants = {1}})
          .shape(),
      ElementsAre(2, 3, 6));
  EXPECT_THAT(
      Values(
          Eval({.op = "Tile", .operands = {Counting({1, 2}), Vector({2, 2})}, .constants = {1}})),
      ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(
      Values(
          Eval({.op = "Concat", .attributes = {{"axis", -1}}, .operands = {Counting({2, 1}), x}})),
      ElementsAre(0, 0, 1, 2, 1, 3, 4, 5));
}

TEST(OnnxShape, DepthAndSpace) {
  const Array x = Counting({1, 8, 1, 1});
  const auto depth_to_space = [&](const char* mode) {
    return Values(Eval(
        {.op = "DepthToSpace", .attributes = {{"blocksize", 2}, {"mode", mode}}, .operands = {x}}));
  };
  EXPECT_THAT(depth_to_space("DCR"), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(depth_to_space("CRD"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Values(Eval({.op = "SpaceToDepth",
                           .attributes = {{"blocksize", 2}},
                           .operands = {Counting({1, 1, 2, 2})}})),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Values(Eval({.op = "SpaceToDepth",
                           .attributes = {{"blocksize", 2}, {"mode", "CRD"}},
                           .operands = {Counting({1, 2, 2, 2})},
                           .opset = 28})),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(OnnxShape, ShapeAndSize) {
  const Array x = Counting({2, 3, 4});
  EXPECT_THAT(Values(Eval({.op = "Shape", .operands = {x}})), ElementsAre(2, 3, 4));
  EXPECT_THAT(
      Values(Eval({.op = "Shape", .attributes = {{"start", -2}, {"end", 9}}, .operands = {x}})),
      ElementsAre(3, 4));
  EXPECT_THAT(
      Values(Eval({.op = "Shape", .attributes = {{"start", 2}, {"end", 1}}, .operands = {x}})),
      ElementsAre());
  EXPECT_THAT(Values(Eval({.op = "Size", .operands = {x}})), ElementsAre(24));
}

TEST(OnnxSlice, BoundsFollowPython) {
  const auto slice = [](List starts, List ends, List axes, List steps) {
    return Values(Eval(
        {.op = "Slice",
         .operands = {Counting({2, 4}), Vector(starts), Vector(ends), Vector(axes), Vector(steps)},
         .constants = {1, 2, 3, 4}}));
  };
  EXPECT_THAT(slice({1}, {3}, {1}, {1}), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(slice({-1}, {INT64_MAX}, {0}, {1}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(slice({0, 0}, {1, 9}, {0, -1}, {1, 2}), ElementsAre(0, 2));
  EXPECT_THAT(slice({-1, 0}, {INT64_MIN, 1}, {1, 0}, {-1, 1}), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(slice({3, 0}, {0, 1}, {1, 0}, {-2, 1}), ElementsAre(3, 1));
  EXPECT_THAT(slice({0}, {4}, {1}, {100}), ElementsAre(0, 4));
  EXPECT_THAT(slice({3}, {1}, {1}, {1}), ElementsAre());
  // With a negative step, a start before the axis counts as the first element. With such a step, an
  // end of exactly INT32_MAX or INT64_MAX means that the first element is included.
  EXPECT_THAT(slice({-12}, {INT64_MIN}, {1}, {-1}), ElementsAre(0, 4));
  EXPECT_THAT(slice({-12, 0}, {-9, 1}, {1, 0}, {-2, 1}), ElementsAre(0));
  EXPECT_THAT(slice({-12}, {0}, {1}, {-1}), ElementsAre());
  EXPECT_THAT(slice({1, 0}, {INT64_MAX, 1}, {1, 0}, {-1, 1}), ElementsAre(1, 0));
  EXPECT_THAT(slice({9, 0}, {INT32_MAX, 1}, {1, 0}, {-3, 1}), ElementsAre(3, 0));
  EXPECT_THAT(slice({-12}, {2}, {1}, {1}), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(
      Values(Eval({.op = "Slice",
                   .attributes = {{"starts", List{1}}, {"ends", List{-1}}, {"axes", List{1}}},
                   .operands = {Counting({1, 4})},
                   .opset = 9})),
      ElementsAre(1, 2));
  EXPECT_THAT(
      ErrorOf({.op = "Slice",
               .operands = {Counting({4}), Vector({0}), Vector({4}), Vector({0}), Vector({0})},
               .constants = {1, 2, 3, 4}}),
      HasSubstr("a step is 0"));
}

TEST(OnnxSlice, Split) {
  const Array x = Counting({5});
  const auto parts = [](const Result<std::vector<Array>>& outputs) {
    std::vector<std::vector<double>> all;
    for (const Array& output : outputs.value()) all.push_back(Values(output));
    return all;
  };
  EXPECT_THAT(parts(RunCall(
                  {.op = "Split", .operands = {x, Vector({2, 3})}, .constants = {1}, .count = 2})),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3, 4)));
  EXPECT_THAT(parts(RunCall({.op = "Split",
                             .attributes = {{"split", List{4, 1}}},
                             .operands = {x},
                             .opset = 11,
                             .count = 2})),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4)));
  EXPECT_THAT(parts(RunCall({.op = "Split",
                             .attributes = {{"num_outputs", 2}},
                             .operands = {x},
                             .opset = 18,
                             .count = 2})),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(
      ErrorOf({.op = "Split", .operands = {x, Vector({2, 2})}, .constants = {1}, .count = 2}),
      HasSubstr("parts cover 4"));
}

TEST(OnnxSlice, Pad) {
  const Array x = Floats({3}, {1, 2, 3});
  EXPECT_THAT(Values(Eval({.op = "Pad",
                           .attributes = {{"pads", List{1, 1}}, {"value", 9.0}},
                           .operands = {x},
                           .opset = 10})),
              ElementsAre(9, 1, 2, 3, 9));
  EXPECT_THAT(
      Values(Eval(
          {.op = "Pad", .operands = {x, Vector({0, 2}), Floats({}, {7})}, .constants = {1, 2}})),
      ElementsAre(1, 2, 3, 7, 7));
  const auto padded = [&](const char* mode) {
    return Values(Eval({.op = "Pad",
                        .attributes = {{"mode", mode}},
                        .operands = {x, Vector({2, 1})},
                        .constants = {1},
                        .opset = 19}));
  };
  EXPECT_THAT(padded("reflect"), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(padded("edge"), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(padded("wrap"), ElementsAre(2, 3, 1, 2, 3, 1));
  EXPECT_THAT(
      Values(Eval({.op = "Pad",
                   .operands = {Floats({1, 2}, {1, 2}), Vector({1, 0}), Absent(), Vector({-1})},
                   .constants = {1, 3},
                   .opset = 18})),
      ElementsAre(0, 1, 2));
}

TEST(OnnxSlice, Trilu) {
  const Array x = Counting({2, 2}, 1);
  EXPECT_THAT(Values(Eval({.op = "Trilu", .operands = {x}})), ElementsAre(1, 2, 0, 4));
  EXPECT_THAT(Values(Eval({.op = "Trilu", .attributes = {{"upper", 0}}, .operands = {x}})),
              ElementsAre(1, 0, 3, 4));
  EXPECT_THAT(Values(Eval({.op = "Trilu", .operands = {x, Ints({}, {1})}, .constants = {1}})),
              ElementsAre(0, 2, 0, 0));
}

TEST(OnnxIndex, Gather) {
  const Array x = Counting({3, 2});
  EXPECT_THAT(Values(Eval({.op = "Gather", .operands = {x, Vector({2, -3})}})),
              ElementsAre(4, 5, 0, 1));
  EXPECT_THAT(
      Values(Eval({.op = "Gather", .attributes = {{"axis", 1}}, .operands = {x, Ints({}, {1})}})),
      ElementsAre(1, 3, 5));
  EXPECT_THAT(Values(Eval({.op = "GatherElements",
                           .attributes = {{"axis", 1}},
                           .operands = {x, Ints({3, 1}, {1, 0, -1})}})),
              ElementsAre(1, 2, 5));
  EXPECT_THAT(Values(Eval({.op = "GatherND", .operands = {x, Ints({2, 2}, {0, 1, -1, 0})}})),
              ElementsAre(1, 4));
  EXPECT_THAT(Values(Eval({.op = "GatherND", .operands = {x, Ints({1, 1}, {-1})}})),
              ElementsAre(4, 5));
}

TEST(OnnxIndex, ConstantsOutOfRangeAreRejected) {
  const Array x = Counting({2, 3});
  const auto error = [&](const char* op, const Array& indices) {
    return ErrorOf({.op = op, .operands = {x, indices}, .constants = {1}});
  };
  EXPECT_THAT(error("Gather", Ints({2}, {-2, 2})),
              HasSubstr("(Gather): index 2 at position 1 is out of range, expected -2 to 1"));
  EXPECT_THAT(error("GatherElements", Ints({1, 3}, {0, 1, -3})),
              HasSubstr("index -3 at position 2 is out of range, expected -2 to 1"));
  EXPECT_THAT(error("GatherND", Ints({2, 2}, {1, 2, 0, 3})),
              HasSubstr("index 3 of axis 1 at position 1 is out of range, expected -3 to 2"));
}

/// Returns y of `op` on x: f32[2, 3]. The positions are an input of shape [2, 2]. If the model
/// fails, fails the test and returns an empty list.
std::vector<double> AtPositions(const std::string& op, const List& positions,
                                const std::vector<Array>& more) {
  Model model(17);
  model.Constant("x", Counting({2, 3})).Input("i", {2, 2}, DataType::kI64);
  std::vector<std::string> operands{"x", "i"};
  for (size_t m = 0; m < more.size(); ++m) {
    operands.push_back(fmt::format("m{}", m));
    model.Constant(operands.back(), more[m]);
  }
  model.Node(op, operands, {"y"}).Output("y");
  const auto graph = model.Import();
  EXPECT_TRUE(graph) << graph.error().message;
  if (!graph) return {};
  const Array indices = Ints({2, 2}, positions);
  const auto outputs = RunReference(*graph, {&indices, 1});
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? Values(outputs->front()) : std::vector<double>();
}

// Row 0, column 3 is out of range, although its row-major number equals that of row 1, column 0.
TEST(OnnxIndex, APositionIsOutOfRangeIfACoordinateIs) {
  EXPECT_THAT(AtPositions("GatherND", {1, 0, 0, 3}, {}), ElementsAre(3, 5));
  EXPECT_THAT(AtPositions("GatherND", {-2, -3, -3, 0}, {}), ElementsAre(0, 5));
  EXPECT_THAT(AtPositions("ScatterND", {0, 3, 1, 1}, {Floats({2}, {70, 80})}),
              ElementsAre(0, 1, 2, 3, 80, 5));
}

TEST(OnnxIndex, OneHot) {
  const Array y = Eval({.op = "OneHot",
                        .operands = {Vector({2, -3}), Ints({}, {3}), Floats({2}, {5, 9})},
                        .constants = {1, 2}});
  EXPECT_THAT(y.shape(), ElementsAre(2, 3));
  EXPECT_THAT(Values(y), ElementsAre(5, 5, 9, 9, 5, 5));
}

TEST(OnnxConstant, EveryForm) {
  EXPECT_THAT(Values(Eval({.op = "Constant", .attributes = {{"value", Counting({2})}}})),
              ElementsAre(0, 1));
  EXPECT_EQ(Eval({.op = "Constant", .attributes = {{"value_int", 3}}}).type(), DataType::kI64);
  EXPECT_THAT(Values(Eval({.op = "Constant", .attributes = {{"value_float", 0.5}}})),
              ElementsAre(0.5));
  EXPECT_THAT(Values(Eval({.op = "Constant", .attributes = {{"value_ints", List{4, 5}}}})),
              ElementsAre(4, 5));
  EXPECT_THAT(
      Values(Eval({.op = "Constant", .attributes = {{"value_floats", std::vector<float>{1}}}})),
      ElementsAre(1));
  EXPECT_THAT(ErrorOf({.op = "Constant", .attributes = {{"value_string", "x"}}}),
              HasSubstr("neither a tensor nor a number"));
}

TEST(OnnxConstant, FromShapes) {
  EXPECT_THAT(Values(Eval({.op = "ConstantOfShape",
                           .attributes = {{"value", Ints({1}, {7})}},
                           .operands = {Vector({3})},
                           .constants = {0}})),
              ElementsAre(7, 7, 7));
  EXPECT_THAT(Values(Eval({.op = "ConstantOfShape", .operands = {Vector({2})}, .constants = {0}})),
              ElementsAre(0, 0));
  EXPECT_THAT(Values(Eval({.op = "Range",
                           .operands = {Ints({}, {5}), Ints({}, {0}), Ints({}, {-2})},
                           .constants = {0, 1, 2}})),
              ElementsAre(5, 3, 1));
  EXPECT_THAT(Values(Eval({.op = "Range",
                           .operands = {Ints({}, {INT64_MAX}), Ints({}, {0}), Ints({}, {1})},
                           .constants = {0, 1, 2}})),
              ElementsAre());
  EXPECT_THAT(
      Values(Eval({.op = "EyeLike", .attributes = {{"k", 1}}, .operands = {Counting({2, 2})}})),
      ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(ErrorOf({.op = "Range",
                       .operands = {Ints({}, {0}), Ints({}, {5}), Ints({}, {0})},
                       .constants = {0, 1, 2}}),
              HasSubstr("is not a finite range"));
}

TEST(OnnxConstant, HugeFillsStayOperators) {
  // The tensor has 16 TiB, which are not allocated.
  Model model(17);
  model.Input("x", {1}).Constant("shape", Vector({int64_t{1} << 42}));
  model.Node("ConstantOfShape", {"shape"}, {"big"}).Node("Shape", {"big"}, {"y"}).Output("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph) << graph.error().Format();
}

TEST(OnnxConstant, FillsThatAreReadInPartStayOperators) {
  // The tensor has 4 GiB, of which the model reads two rows.
  Model model(17);
  model.Input("i", {2}, DataType::kI64).Constant("shape", Vector({32768, 32768}));
  model.Node("ConstantOfShape", {"shape"}, {"table"});
  model.Node("Gather", {"table", "i"}, {"y"}).Output("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto optimised = RunPipeline(*graph);
  ASSERT_TRUE(optimised) << optimised.error().Format();
  for (const Node& node : optimised->graph.nodes()) EXPECT_LE(node.constant.bytes(), 1024U);
}

TEST(OnnxConstant, FillsThatAreWeightsAreConstants) {
  Model model(17);
  model.Input("x", {3, 2000}).Constant("shape", Vector({2000, 1000}));
  model.Node("ConstantOfShape", {"shape"}, {"weight"});
  model.Node("MatMul", {"x", "weight"}, {"y"}).Output("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph) << graph.error().Format();
  const auto optimised = RunPipeline(*graph);
  ASSERT_TRUE(optimised) << optimised.error().Format();
  const Node& product = optimised->graph.producer(optimised->graph.outputs()[0]);
  ASSERT_EQ(product.op, Op::kMatmul);
  EXPECT_NE(optimised->graph.ConstantOf(product.inputs[1]), nullptr);
}

TEST(OnnxResize, UpsampleAndResize) {
  const Array x = Counting({1, 1, 2}, 1);
  EXPECT_THAT(Values(Eval({.op = "Upsample",
                           .attributes = {{"scales", std::vector<float>{1, 1, 2}}},
                           .operands = {x},
                           .opset = 7})),
              ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(Values(Eval({.op = "Resize",
                           .operands = {x, Floats({3}, {1, 1, 2})},
                           .constants = {1},
                           .opset = 10})),
              ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(Values(Eval({.op = "Resize",
                           .attributes = {{"mode", "linear"}},
                           .operands = {x, Absent(), Absent(), Vector({1, 1, 4})},
                           .constants = {3}})),
              ElementsAre(1, 1.25, 1.75, 2));
  EXPECT_THAT(Values(Eval({.op = "Resize",
                           .attributes = {{"mode", "linear"},
                                          {"coordinate_transformation_mode", "align_corners"}},
                           .operands = {x, Absent(), Floats({3}, {1, 1, 1.5})},
                           .constants = {2}})),
              ElementsAre(1, 1.5, 2));
  const Array fitted =
      Eval({.op = "Resize",
            .attributes = {{"axes", List{1, 2}}, {"keep_aspect_ratio_policy", "not_larger"}},
            .operands = {Counting({1, 2, 4}), Absent(), Absent(), Vector({6, 8})},
            .constants = {3},
            .opset = 18});
  EXPECT_THAT(fitted.shape(), ElementsAre(1, 4, 8));
}

// The size of a result is the float32 product of the operand's size and the scale, rounded down.
// ONNX Runtime computes the same sizes.
TEST(OnnxResize, SizesOfScalesAreProductsInFloat32) {
  const auto size = [](int64_t from, float scale) {
    return Eval({.op = "Resize",
                 .operands = {Counting({1, 1, from}), Absent(), Floats({3}, {1, 1, scale})},
                 .constants = {2}})
        .shape()[2];
  };
  EXPECT_EQ(size(10, 1.3F), 13);
  EXPECT_EQ(size(10, 0.7F), 7);
  EXPECT_EQ(size(10, 1.1F), 11);
  EXPECT_EQ(size(3, 0.34F), 1);
  EXPECT_EQ(size(6, 1.6666666F), 10);
  const Array upsampled = Eval({.op = "Upsample",
                                .operands = {Counting({1, 1, 10}), Floats({3}, {1, 1, 1.3F})},
                                .constants = {1},
                                .opset = 9});
  EXPECT_THAT(upsampled.shape(), ElementsAre(1, 1, 13));
}

TEST(OnnxResize, CornersAreThoseOfTheResult) {
  const auto resized = [](const char* mode) {
    return Values(
        Eval({.op = "Resize",
              .attributes = {{"mode", mode}, {"coordinate_transformation_mode", "align_corners"}},
              .operands = {Counting({1, 1, 8}), Absent(), Floats({3}, {1, 1, 1.3F})},
              .constants = {2}}));
  };
  const std::vector<double> linear = resized("linear");
  ASSERT_EQ(linear.size(), 10U);
  EXPECT_FLOAT_EQ(static_cast<float>(linear[1]), 7.0F / 9);
  EXPECT_EQ(linear.back(), 7);
  EXPECT_EQ(resized("cubic").back(), 7);
  EXPECT_EQ(resized("nearest").back(), 7);
}

// If a float32 scale approximates a fraction of small integers, such as 13 / 10, coordinates are
// computed with the fraction.
TEST(OnnxResize, NearestElementsGoByFractions) {
  const auto resized = [](const char* rounding) {
    return Values(Eval({.op = "Resize",
                        .attributes = {{"coordinate_transformation_mode", "asymmetric"},
                                       {"nearest_mode", rounding}},
                        .operands = {Counting({1, 1, 20}), Absent(), Floats({3}, {1, 1, 1.3F})},
                        .constants = {2}}));
  };
  EXPECT_EQ(resized("floor")[13], 10);
  EXPECT_EQ(resized("ceil")[13], 10);
}

}  // namespace
}  // namespace tunec::onnx_test
