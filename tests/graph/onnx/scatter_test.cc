// Tests of importing the ONNX operators for scatters, sorting, cumulative products and
// determinants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OnnxScatter, RowsAtPositions) {
  const auto scatter = [](const char* reduction) {
    return Values(Eval({.op = "ScatterND",
                        .attributes = {{"reduction", reduction}},
                        .operands = {Counting({3, 2}, 1), Ints({3, 1}, {2, 0, -1}),
                                     Floats({3, 2}, {10, 20, 3, -4, 0, 2})},
                        .opset = 18}));
  };
  EXPECT_THAT(scatter("none"), ElementsAre(3, -4, 3, 4, 0, 2));
  EXPECT_THAT(scatter("add"), ElementsAre(4, -2, 3, 4, 15, 28));
  EXPECT_THAT(scatter("mul"), ElementsAre(3, -8, 3, 4, 0, 240));
  EXPECT_THAT(scatter("max"), ElementsAre(3, 2, 3, 4, 10, 20));
  EXPECT_THAT(scatter("min"), ElementsAre(1, -4, 3, 4, 0, 2));
}

TEST(OnnxScatter, ElementsAlongAnAxis) {
  const auto scatter = [](std::vector<Attr> attributes) {
    return Values(
        Eval({.op = "ScatterElements",
              .attributes = attributes,
              .operands = {Counting({2, 3}), Ints({1, 2}, {1, -1}), Floats({1, 2}, {7, 8})},
              .opset = 18}));
  };
  EXPECT_THAT(scatter({{"axis", 1}}), ElementsAre(0, 7, 8, 3, 4, 5));
  EXPECT_THAT(scatter({{"axis", 0}}), ElementsAre(0, 1, 2, 7, 8, 5));
  EXPECT_THAT(scatter({{"axis", 1}, {"reduction", "add"}}), ElementsAre(0, 8, 10, 3, 4, 5));
}

TEST(OnnxScatter, CachesAndPools) {
  const auto write = [](const char* mode, int64_t at) {
    return Values(
        Eval({.op = "TensorScatter",
              .attributes = {{"mode", mode}},
              .operands = {Counting({1, 4, 1}), Floats({1, 2, 1}, {7, 8}), Ints({1}, {at})},
              .opset = 24}));
  };
  EXPECT_THAT(write("linear", 1), ElementsAre(0, 7, 8, 3));
  EXPECT_THAT(write("circular", 3), ElementsAre(8, 1, 2, 7));
  EXPECT_THAT(Values(Eval({.op = "MaxUnpool",
                           .attributes = {{"kernel_shape", std::vector<int64_t>{2}},
                                          {"strides", std::vector<int64_t>{2}}},
                           .operands = {Floats({1, 1, 2}, {5, 6}), Ints({1, 1, 2}, {1, 2})}})),
              ElementsAre(0, 5, 6, 0));
}

// A larger result has zeros at the ends of its axes. No axis may be shorter than by default.
TEST(OnnxScatter, UnpoolsToAnOutputShape) {
  const auto unpool = [](const std::vector<int64_t>& shape) {
    return RunCall({.op = "MaxUnpool",
                    .attributes = {{"kernel_shape", std::vector<int64_t>{1, 2}},
                                   {"strides", std::vector<int64_t>{1, 2}}},
                    .operands = {Floats({1, 1, 2, 1}, {5, 6}), Ints({1, 1, 2, 1}, {1, 2}),
                                 Ints({static_cast<int64_t>(shape.size())}, shape)},
                    .constants = {2}});
  };
  const auto larger = unpool({1, 1, 2, 3});
  ASSERT_TRUE(larger) << larger.error().Format();
  EXPECT_THAT(Values((*larger)[0]), ElementsAre(0, 5, 0, 6, 0, 0));
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{1, 1, 1, 9}, {1, 1, 9, 1}, {1, 1, 4}}) {
    const auto smaller = unpool(shape);
    ASSERT_FALSE(smaller);
    EXPECT_THAT(smaller.error().message, HasSubstr("the result's shape does not fit"));
  }
}

TEST(OnnxTopK, LargestAndSmallestInOrder) {
  const auto top = [](int largest) {
    const auto results = RunCall({.op = "TopK",
                                  .attributes = {{"largest", largest}, {"axis", 0}},
                                  .operands = {Floats({4}, {2, 5, 2, 9}), Ints({1}, {3})},
                                  .constants = {1},
                                  .count = 2});
    EXPECT_TRUE(results) << results.error().Format();
    std::vector<double> values = Values((*results)[0]);
    for (const double position : Values((*results)[1])) values.push_back(position);
    return values;
  };
  EXPECT_THAT(top(1), ElementsAre(9, 5, 2, 3, 1, 0));
  EXPECT_THAT(top(0), ElementsAre(2, 2, 5, 0, 2, 1));
}

TEST(OnnxTopK, NanIsGreaterThanInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  const auto positions = [&](int largest) {
    const auto results =
        RunCall({.op = "TopK",
                 .attributes = {{"largest", largest}, {"axis", 0}},
                 .operands = {Floats({5}, {1, inf, nan, -inf, nan}), Ints({1}, {5})},
                 .constants = {1},
                 .count = 2});
    EXPECT_TRUE(results) << results.error().Format();
    return Values((*results)[1]);
  };
  EXPECT_THAT(positions(1), ElementsAre(2, 4, 1, 0, 3));
  EXPECT_THAT(positions(0), ElementsAre(3, 0, 1, 2, 4));
}

TEST(OnnxCumProd, DirectionsAndExclusion) {
  const auto products = [](std::vector<Attr> attributes) {
    return Values(Eval({.op = "CumProd",
                        .attributes = attributes,
                        .operands = {Floats({3}, {2, 3, 4}), Ints({}, {0})},
                        .constants = {1},
                        .opset = 26}));
  };
  EXPECT_THAT(products({}), ElementsAre(2, 6, 24));
  EXPECT_THAT(products({{"reverse", 1}}), ElementsAre(24, 12, 4));
  EXPECT_THAT(products({{"exclusive", 1}}), ElementsAre(1, 2, 6));
  EXPECT_THAT(products({{"exclusive", 1}, {"reverse", 1}}), ElementsAre(12, 4, 1));
}

TEST(OnnxDet, ByItsFirstRow) {
  EXPECT_THAT(
      Values(Eval({.op = "Det", .operands = {Floats({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4})}})),
      ElementsAre(18));
  EXPECT_THAT(ErrorOf({.op = "Det", .operands = {Counting({5, 5})}}), HasSubstr("of 5 rows"));
}

}  // namespace
}  // namespace tunec::onnx_test
