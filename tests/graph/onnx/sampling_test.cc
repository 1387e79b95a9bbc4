// Tests of importing ONNX operators that sample images, transform signals, quantize or move
// elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using List = std::vector<int64_t>;

MATCHER(IsNear, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 1e-5; }

TEST(OnnxGridSample, PlacesBetweenAndOutside) {
  const Array x = Floats({1, 1, 2, 2}, {0, 1, 2, 3});
  // With aligned corners, -1 and 1 are the centers of the outer pixels. The grid has one corner,
  // the middle, and two positions outside the image.
  const Array grid = Floats({1, 1, 4, 2}, {1, -1, 0, 0, 3, -1, 1, 2});
  const auto sample = [&](const char* mode, const char* padding) {
    return Values(
        Eval({.op = "GridSample",
              .attributes = {{"mode", mode}, {"padding_mode", padding}, {"align_corners", 1}},
              .operands = {x, grid},
              .opset = 20}));
  };
  EXPECT_THAT(sample("linear", "zeros"), Pointwise(IsNear(), {1.0, 1.5, 0.0, 1.5}));
  EXPECT_THAT(sample("linear", "border"), Pointwise(IsNear(), {1.0, 1.5, 1.0, 3.0}));
  EXPECT_THAT(sample("linear", "reflection"), Pointwise(IsNear(), {1.0, 1.5, 0.0, 2.0}));
  EXPECT_THAT(sample("nearest", "zeros"), Pointwise(IsNear(), {1.0, 0.0, 0.0, 0.0}));
  EXPECT_THAT(ErrorOf({.op = "GridSample",
                       .attributes = {{"mode", "quartic"}},
                       .operands = {x, grid},
                       .opset = 20}),
              HasSubstr("mode is 'quartic'"));
}

TEST(OnnxGridSample, WhatLiesOutsideIsNotMultiplied) {
  const auto sampled = [](const Array& x, const Array& grid) {
    return Values(Eval({.op = "GridSample",
                        .attributes = {{"align_corners", 1}, {"padding_mode", "zeros"}},
                        .operands = {x, grid},
                        .opset = 16}));
  };
  const Array x = Floats({1, 1, 1, 3}, {INFINITY, 1, 2});
  EXPECT_THAT(sampled(x, Floats({1, 1, 3, 2}, {-3, 0, 0.5, 0, 1, 0})), ElementsAre(0, 1.5, 2));
}

TEST(OnnxGridSample, CubicIsExactAtPixelsAndOnLines) {
  const Array x = Counting({1, 1, 1, 6});
  const Array grid = Floats({1, 1, 2, 2}, {0, 0, 0.2F, 0});
  const auto y =
      Eval({.op = "GridSample",
            .attributes = {{"mode", "cubic"}, {"align_corners", 1}, {"padding_mode", "border"}},
            .operands = {x, grid},
            .opset = 20});
  EXPECT_THAT(Values(y), Pointwise(IsNear(), {2.5, 3.0}));
}

TEST(OnnxAffineGrid, CentresAndCorners) {
  const Array theta = Floats({1, 2, 3}, {1, 0, 0, 0, 1, 0.5});
  const auto grid = [&](int align) {
    return Values(Eval({.op = "AffineGrid",
                        .attributes = {{"align_corners", align}},
                        .operands = {theta, Ints({4}, {1, 1, 2, 2})},
                        .constants = {1},
                        .opset = 20}));
  };
  EXPECT_THAT(grid(0), Pointwise(IsNear(), {-0.5, 0.0, 0.5, 0.0, -0.5, 1.0, 0.5, 1.0}));
  EXPECT_THAT(grid(1), Pointwise(IsNear(), {-1.0, -0.5, 1.0, -0.5, -1.0, 1.5, 1.0, 1.5}));
}

TEST(OnnxRoiAlign, AveragesOfSamples) {
  const Array x = Counting({1, 1, 4, 4});
  const auto align = [&](std::vector<Attr> attributes) {
    attributes.emplace_back("output_height", 1);
    attributes.emplace_back("output_width", 2);
    attributes.emplace_back("sampling_ratio", 2);
    return Values(Eval({.op = "RoiAlign",
                        .attributes = attributes,
                        .operands = {x, Floats({1, 4}, {0.5, 0.5, 2.5, 2.5}), Ints({1}, {0})}}));
  };
  // Along the width, the first output's samples are at 0.25 and 0.75, and the second's at 1.25 and
  // 1.75. Along the height, all samples are at 0.5 and 1.5.
  EXPECT_THAT(align({}), Pointwise(IsNear(), {4.5, 5.5}));
  EXPECT_THAT(
      ErrorOf({.op = "RoiAlign", .operands = {x, Floats({1, 4}, {0, 0, 1, 1}), Ints({1}, {0})}}),
      HasSubstr("the number of samples would depend on the regions"));
}

TEST(OnnxDeformConv, OffsetsMoveTheTaps) {
  // The 1x1 filter is moved by half a pixel to the right. At the second position, half of its input
  // is a zero beyond the image.
  const auto y = Eval({.op = "DeformConv",
                       .operands = {Floats({1, 1, 1, 2}, {2, 4}), Floats({1, 1, 1, 1}, {10}),
                                    Floats({1, 2, 1, 2}, {0, 0, 0.5, 0.5}), Floats({1}, {1}),
                                    Floats({1, 1, 1, 2}, {1, 0.5})},
                       .opset = 19});
  EXPECT_THAT(Values(y), Pointwise(IsNear(), {31.0, 11.0}));
}

TEST(OnnxResize, AntialiasAndCrops) {
  const Array x = Floats({1, 1, 1, 4}, {1, 2, 3, 4});
  const auto resize = [&](std::vector<Attr> attributes, const Array& roi, const Array& scales) {
    return Values(Eval({.op = "Resize",
                        .attributes = attributes,
                        .operands = {x, roi, scales},
                        .constants = {1, 2},
                        .opset = 18}));
  };
  // The antialiasing filter is a triangle that extends two pixels to each side. Its weights are
  // 1/8, 3/8, 3/8 and 1/8. Pixels at the edge are repeated.
  EXPECT_THAT(resize({{"mode", "linear"}, {"antialias", 1}}, Absent(), Floats({4}, {1, 1, 1, 0.5})),
              Pointwise(IsNear(), {(1 + 3 + 6 + 3) / 8.0, (2 + 9 + 12 + 4) / 8.0}));
  EXPECT_THAT(resize({{"mode", "linear"},
                      {"coordinate_transformation_mode", "tf_crop_and_resize"},
                      {"extrapolation_value", 9.0}},
                     Floats({8}, {0, 0, 0, 0.5, 1, 1, 1, 1.5}), Floats({4}, {1, 1, 1, 0.75})),
              Pointwise(IsNear(), {2.5, 4.0, 9.0}));
}

// An infinity reaches only the outputs whose filter includes it, and does not make NaN elsewhere.
TEST(OnnxResize, FiltersReadTheirOwnWindows) {
  const double inf = std::numeric_limits<double>::infinity();
  const Array x = Floats({1, 1, 8}, {INFINITY, 1, 1, 1, 1, 1, 1, 1});
  const auto resize = [&](std::vector<Attr> attributes, float scale) {
    return Values(Eval({.op = "Resize",
                        .attributes = std::move(attributes),
                        .operands = {x, Absent(), Floats({3}, {1, 1, scale})},
                        .constants = {2},
                        .opset = 18}));
  };
  EXPECT_THAT(resize({{"mode", "linear"}, {"antialias", 1}}, 0.5), ElementsAre(inf, 1, 1, 1));
  EXPECT_THAT(resize({{"mode", "cubic"}, {"antialias", 1}}, 0.5), ElementsAre(inf, -inf, 1, 1));
  const auto cubic = resize({{"mode", "cubic"}, {"exclude_outside", 1}}, 1.5);
  EXPECT_EQ(cubic.front(), inf);
  for (size_t i = 5; i < cubic.size(); ++i) EXPECT_NEAR(cubic[i], 1, 1e-6) << i;
}

TEST(OnnxResize, CubicCoefficientsAreFinite) {
  EXPECT_THAT(
      ErrorOf({.op = "Resize",
               .attributes = {{"mode", "cubic"},
                              {"cubic_coeff_a", std::numeric_limits<float>::quiet_NaN()},
                              {"exclude_outside", 1}},
               .operands = {Counting({1, 1, 4, 4}), Floats({0}, {}), Floats({4}, {1, 1, 2, 2})},
               .constants = {1, 2}}),
      HasSubstr("cubic_coeff_a is nan"));
}

TEST(OnnxChoices, UnknownTextsAreRejected) {
  const Array image = Counting({1, 1, 4, 4});
  const Array none = Floats({0}, {});
  const std::vector<Call> calls = {
      {.op = "Resize",
       .attributes = {{"mode", "strange"}, {"antialias", 1}},
       .operands = {image, none, Floats({4}, {1, 1, 0.5, 0.5})},
       .constants = {1, 2},
       .opset = 18},
      {.op = "Resize",
       .attributes = {{"nearest_mode", "strange"}, {"antialias", 1}},
       .operands = {image, none, Floats({4}, {1, 1, 0.5, 0.5})},
       .constants = {1, 2},
       .opset = 18},
      {.op = "Resize",
       .attributes = {{"keep_aspect_ratio_policy", "strange"}},
       .operands = {image, none, none, Ints({4}, {1, 1, 2, 3})},
       .constants = {1, 2, 3},
       .opset = 18},
      {.op = "RoiAlign",
       .attributes = {{"mode", "strange"}, {"sampling_ratio", 1}},
       .operands = {image, Floats({1, 4}, {0, 0, 1, 1}), Ints({1}, {0})}},
      {.op = "GridSample",
       .attributes = {{"padding_mode", "strange"}},
       .operands = {image, Floats({1, 1, 1, 2}, {0, 0})}},
      {.op = "RNN",
       .attributes = {{"direction", "strange"}, {"hidden_size", 1}},
       .operands = {Counting({2, 1, 3}), Counting({1, 1, 3}), Counting({1, 1, 1})}},
      {.op = "ConvTranspose",
       .attributes = {{"auto_pad", "strange"}},
       .operands = {image, Counting({1, 1, 2, 2})}},
      {.op = "AveragePool",
       .attributes = {{"auto_pad", "strange"}, {"kernel_shape", std::vector<int64_t>{2, 2}}},
       .operands = {image}},
  };
  for (const Call& call : calls) EXPECT_THAT(ErrorOf(call), HasSubstr("is 'strange'")) << call.op;
}

TEST(OnnxSignal, Windows) {
  const auto window = [](const std::string& op, int periodic) {
    return Values(Eval({.op = op,
                        .attributes = {{"periodic", periodic}},
                        .operands = {Ints({}, {4})},
                        .constants = {0}}));
  };
  EXPECT_THAT(window("HannWindow", 1), Pointwise(IsNear(), {0.0, 0.5, 1.0, 0.5}));
  EXPECT_THAT(window("HannWindow", 0), Pointwise(IsNear(), {0.0, 0.75, 0.75, 0.0}));
  EXPECT_THAT(window("HammingWindow", 1),
              Pointwise(IsNear(), {4.0 / 46, 25.0 / 46, 1.0, 25.0 / 46}));
  EXPECT_THAT(window("BlackmanWindow", 1), Pointwise(IsNear(), {0.0, 0.34, 1.0, 0.34}));
}

TEST(OnnxSignal, TransformsAndTheirInverses) {
  const auto dft = [](std::vector<Attr> attributes, const Array& x) {
    return Values(Eval({.op = "DFT", .attributes = attributes, .operands = {x}}));
  };
  const Array x = Floats({1, 4, 1}, {1, 2, 3, 4});
  EXPECT_THAT(dft({}, x), Pointwise(IsNear(), {10.0, 0.0, -2.0, 2.0, -2.0, 0.0, -2.0, -2.0}));
  EXPECT_THAT(dft({{"onesided", 1}}, x), Pointwise(IsNear(), {10.0, 0.0, -2.0, 2.0, -2.0, 0.0}));
  EXPECT_THAT(dft({{"inverse", 1}}, Floats({1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2})),
              Pointwise(IsNear(), {1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0}));
  EXPECT_THAT(dft({{"inverse", 1}, {"onesided", 1}}, Floats({1, 3, 2}, {10, 0, -2, 2, -2, 0})),
              Pointwise(IsNear(), {1.0, 2.0, 3.0, 4.0}));
  const auto stft =
      Eval({.op = "STFT", .operands = {x, Ints({}, {2}), Floats({2}, {1, 2})}, .constants = {1}});
  EXPECT_THAT(Values(stft), Pointwise(IsNear(), {5.0, 0.0, -3.0, 0.0, 11.0, 0.0, -5.0, 0.0}));
}

TEST(OnnxQuantized, ProductsAndRanges) {
  const auto u8 = [](List shape, const std::vector<double>& values) {
    return Typed(DataType::kU8, shape, values);
  };
  const auto y =
      Eval({.op = "QLinearMatMul",
            .operands = {u8({1, 2}, {12, 14}), Floats({}, {0.5}), u8({}, {10}), u8({2, 1}, {4, 6}),
                         Floats({}, {0.5}), u8({}, {2}), Floats({}, {1}), u8({}, {100})}});
  EXPECT_THAT(Values(y), ElementsAre(105));
  const auto dynamic = RunCall(
      {.op = "DynamicQuantizeLinear", .operands = {Floats({3}, {-1, 0, 4.1F})}, .count = 3});
  ASSERT_TRUE(dynamic) << dynamic.error().Format();
  EXPECT_THAT(Values((*dynamic)[0]), ElementsAre(0, 50, 255));
  EXPECT_NEAR((*dynamic)[1].GetDouble(0), 0.02, 1e-6);
  EXPECT_EQ((*dynamic)[2].GetInt(0), 50);
  const auto blocked = Eval({.op = "DequantizeLinear",
                             .attributes = {{"axis", 1}, {"block_size", 2}},
                             .operands = {u8({1, 4}, {1, 2, 3, 4}), Floats({1, 2}, {10, 100})},
                             .opset = 21});
  EXPECT_THAT(Values(blocked), ElementsAre(10, 20, 300, 400));
}

TEST(OnnxMovement, BlocksSequencesAndCrops) {
  const Array sequence = Counting({3, 2});
  EXPECT_THAT(Values(Eval({.op = "ReverseSequence",
                           .attributes = {{"time_axis", 0}, {"batch_axis", 1}},
                           .operands = {sequence, Ints({2}, {2, 3})}})),
              ElementsAre(2, 5, 0, 3, 4, 1));
  EXPECT_THAT(Values(Eval({.op = "CenterCropPad",
                           .attributes = {{"axes", List{0, 1}}},
                           .operands = {sequence, Ints({2}, {2, 3})},
                           .constants = {1},
                           .opset = 18})),
              ElementsAre(0, 1, 0, 2, 3, 0));
  EXPECT_THAT(Values(Eval({.op = "Compress",
                           .attributes = {{"axis", 0}},
                           .operands = {sequence, Typed(DataType::kBool, {3}, {1, 0, 1})},
                           .constants = {1}})),
              ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(Values(Eval({.op = "Col2Im",
                           .operands = {Floats({1, 2, 2}, {1, 2, 3, 4}), Ints({2}, {1, 3}),
                                        Ints({2}, {1, 2})},
                           .constants = {1, 2},
                           .opset = 18})),
              ElementsAre(1, 5, 4));
  EXPECT_THAT(Values(Eval({.op = "GatherND",
                           .attributes = {{"batch_dims", 1}},
                           .operands = {Counting({2, 3}), Ints({2, 1}, {2, -3})}})),
              ElementsAre(2, 3));
  EXPECT_THAT(
      Values(Eval({.op = "NonZero", .operands = {Floats({2, 2}, {1, 0, 3, 4})}, .constants = {0}})),
      ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_THAT(ErrorOf({.op = "NonZero", .operands = {Counting({2})}}),
              HasSubstr("depends on the values of its operands"));
}

}  // namespace
}  // namespace tunec::onnx_test
