// Tests of the ONNX handlers of operators of language models, such as losses, rotary embeddings,
// linear attention and convolutions with a state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

MATCHER(IsNear, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 1e-5; }

TEST(OnnxLoss, NegativeLogLikelihood) {
  // There are two samples of three classes at two positions.
  const Array x = Floats({2, 3, 2}, {1, 2, 2, 2, 3, 2, 0, 1, 2, 2, 1, 2});
  const Array labels = Ints({2, 2}, {2, 1, 0, 2});
  const auto loss = [&](const char* reduction, std::vector<Array> more = {},
                        std::vector<Attr> attributes = {}) {
    attributes.emplace_back("reduction", reduction);
    std::vector<Array> operands{x, labels};
    operands.insert(operands.end(), more.begin(), more.end());
    return Values(
        Eval({.op = "NegativeLogLikelihoodLoss", .attributes = attributes, .operands = operands}));
  };
  EXPECT_THAT(loss("none"), ElementsAre(-3, -2, 0, -2));
  EXPECT_THAT(loss("sum"), ElementsAre(-7));
  EXPECT_THAT(loss("mean"), ElementsAre(-1.75));
  const Array weights = Floats({3}, {0.5, 2, 4});
  EXPECT_THAT(loss("none", {weights}), ElementsAre(-12, -4, 0, -8));
  EXPECT_THAT(loss("mean", {weights}), Pointwise(IsNear(), {-24 / 10.5}));
  // Ignored labels count neither in the numerator nor in the denominator of the mean.
  EXPECT_THAT(loss("none", {}, {{"ignore_index", 2}}), ElementsAre(0, -2, 0, 0));
  EXPECT_THAT(loss("mean", {}, {{"ignore_index", 2}}), ElementsAre(-1));
  EXPECT_THAT(loss("mean", {weights}, {{"ignore_index", 2}}), Pointwise(IsNear(), {-4 / 2.5}));
}

TEST(OnnxLoss, IgnoredLabelsMayLieOutside) {
  const auto loss = Eval({.op = "NegativeLogLikelihoodLoss",
                          .attributes = {{"ignore_index", -7}, {"reduction", "none"}},
                          .operands = {Counting({2, 2}), Ints({2}, {-7, 1})}});
  EXPECT_THAT(Values(loss), ElementsAre(0, -3));
}

TEST(OnnxLoss, IgnoredLabelsMayBeImpossible) {
  EXPECT_THAT(
      Values(Eval({.op = "NegativeLogLikelihoodLoss",
                   .attributes = {{"ignore_index", 0}, {"reduction", "sum"}},
                   .operands = {Floats({2, 2}, {-INFINITY, 0, -1, -2}), Ints({2}, {0, 1})}})),
      ElementsAre(2));
}

TEST(OnnxLoss, SoftmaxCrossEntropyWithItsProbabilities) {
  const auto results = RunCall({.op = "SoftmaxCrossEntropyLoss",
                                .operands = {Floats({1, 2}, {0, 0}), Ints({1}, {1})},
                                .count = 2});
  ASSERT_TRUE(results) << results.error().Format();
  EXPECT_NEAR((*results)[0].GetDouble(0), std::log(2), 1e-6);
  EXPECT_THAT(Values((*results)[1]), Pointwise(IsNear(), {-std::log(2), -std::log(2)}));
  EXPECT_THAT(ErrorOf({.op = "SoftmaxCrossEntropyLoss",
                       .attributes = {{"reduction", "most"}},
                       .operands = {Counting({1, 2}), Ints({1}, {1})}}),
              HasSubstr("reduction is 'most'"));
}

TEST(OnnxRotaryEmbedding, HalvesAndPairs) {
  // A quarter turn maps (a, b) to (-b, a).
  const Array zero = Floats({1, 1, 2}, {0, 0});
  const Array one = Floats({1, 1, 2}, {1, 1});
  const auto rotate = [&](std::vector<Attr> attributes, std::vector<int64_t> shape) {
    return Values(Eval({.op = "RotaryEmbedding",
                        .attributes = attributes,
                        .operands = {Counting(shape, 1), zero, one},
                        .opset = 23}));
  };
  EXPECT_THAT(rotate({}, {1, 1, 1, 4}), ElementsAre(-3, -4, 1, 2));
  EXPECT_THAT(rotate({{"interleaved", 1}}, {1, 1, 1, 4}), ElementsAre(-2, 1, -4, 3));
  EXPECT_THAT(rotate({{"rotary_embedding_dim", 4}}, {1, 1, 1, 5}), ElementsAre(-3, -4, 1, 2, 5));
  EXPECT_THAT(rotate({{"num_heads", 2}}, {1, 1, 8}), ElementsAre(-3, -4, 1, 2, -7, -8, 5, 6));
}

TEST(OnnxRotaryEmbedding, RejectsOtherNumbersOfAngles) {
  EXPECT_THAT(
      ErrorOf({.op = "RotaryEmbedding",
               .operands = {Counting({1, 1, 1, 4}), Floats({1, 1, 1}, {0}), Floats({1, 1, 1}, {1})},
               .opset = 23}),
      HasSubstr("1 angles for 4 rotated elements, expected half as many"));
}

TEST(OnnxRotaryEmbedding, AnglesByPosition) {
  const auto y = Eval({.op = "RotaryEmbedding",
                       .operands = {Counting({1, 1, 2, 2}, 1), Floats({2, 1}, {1, 0}),
                                    Floats({2, 1}, {0, 1}), Ints({1, 2}, {1, 0})},
                       .opset = 23});
  EXPECT_THAT(Values(y), ElementsAre(-2, 1, 3, 4));
}

TEST(OnnxLinearAttention, StepsOfTheRecurrence) {
  const auto run = [](const char* rule, std::vector<Array> more) {
    std::vector<Array> operands{Floats({1, 2, 1}, {1, 2}), Floats({1, 2, 1}, {3, 1}),
                                Floats({1, 2, 1}, {5, 7})};
    operands.insert(operands.end(), more.begin(), more.end());
    const auto results = RunCall({.op = "LinearAttention",
                                  .attributes = {{"update_rule", rule},
                                                 {"q_num_heads", 1},
                                                 {"kv_num_heads", 1},
                                                 {"scale", 1.0}},
                                  .operands = operands,
                                  .opset = 27,
                                  .count = 2});
    EXPECT_TRUE(results) << results.error().Format();
    std::vector<double> values = Values((*results)[0]);
    values.push_back((*results)[1].GetDouble(0));
    return values;
  };
  const Array state = Floats({1, 1, 1, 1}, {10});
  EXPECT_THAT(run("linear", {state}), ElementsAre(25, 64, 32));
  EXPECT_THAT(run("linear", {}), ElementsAre(15, 44, 22));
  const float half = std::log(0.5F);
  EXPECT_THAT(run("gated", {state, Floats({1, 2, 1}, {half, half})}),
              Pointwise(IsNear(), {20.0, 34.0, 17.0}));
  // With beta 1 and the state S, v is replaced by v - S^T k.
  EXPECT_THAT(run("delta", {state, Absent(), Floats({1, 2, 1}, {1, 1})}), ElementsAre(-65, 14, 7));
}

TEST(OnnxCausalConv, KeepsTheLastInputs) {
  const auto results =
      RunCall({.op = "CausalConvWithState",
               .operands = {Floats({1, 1, 3}, {1, 2, 3}), Floats({1, 1, 2}, {10, 1}),
                            Floats({1}, {0.5}), Floats({1, 1, 1}, {7})},
               .opset = 27,
               .count = 2});
  ASSERT_TRUE(results) << results.error().Format();
  EXPECT_THAT(Values((*results)[0]), ElementsAre(71.5, 12.5, 23.5));
  EXPECT_THAT(Values((*results)[1]), ElementsAre(3));
}

TEST(OnnxSwish, AlphaAndGate) {
  const Array x = Floats({1}, {2});
  const double gate = 2 / (1 + std::exp(-1.0));
  EXPECT_NEAR(Eval({.op = "Swish", .attributes = {{"alpha", 0.5}}, .operands = {x}, .opset = 24})
                  .GetDouble(0),
              gate, 1e-5);
  EXPECT_NEAR(Eval({.op = "SwiGLU",
                    .attributes = {{"alpha", 0.5}},
                    .operands = {x, Floats({1}, {3})},
                    .opset = 28})
                  .GetDouble(0),
              3 * gate, 1e-5);
}

}  // namespace
}  // namespace tunec::onnx_test
