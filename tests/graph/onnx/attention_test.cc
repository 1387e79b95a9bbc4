// Tests of the ONNX operator Attention. Queries of zeros give equal weight to all visible keys, so
// the result is the mean of the visible keys' values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns a call of Attention with two queries of one head. Operand v is 1, 2, 4, and so on.
Call MeanOf(int64_t keys, std::vector<Attr> attributes = {}) {
  std::vector<float> values;
  for (int64_t j = 0; j < keys; ++j) values.push_back(static_cast<float>(1 << j));
  return {.op = "Attention",
          .attributes = std::move(attributes),
          .operands = {Counting({1, 1, 2, 3}, 0, 0), Counting({1, 1, keys, 3}),
                       Floats({1, 1, keys, 1}, values)},
          .opset = 23};
}

TEST(OnnxAttention, MasksOfBothKinds) {
  Call call = MeanOf(4);
  EXPECT_THAT(Values(Eval(call)), ElementsAre(3.75, 3.75));
  call.operands.push_back(Typed(DataType::kBool, {2, 4}, {1, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_THAT(Values(Eval(call)), ElementsAre(2.5, 8));
  call.operands.back() = Floats({2, 4}, {0, 0, -INFINITY, -INFINITY, 0, 0, 0, 0});
  EXPECT_THAT(Values(Eval(call)), ElementsAre(1.5, 3.75));
}

TEST(OnnxAttention, ARowThatSeesNoKeyIsZero) {
  Call call = MeanOf(4);
  call.operands.push_back(Typed(DataType::kBool, {2, 4}, {0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_THAT(Values(Eval(call)), ElementsAre(0, 3.75));
}

// A mask of the least float32 numbers has no infinity in a narrower type.
TEST(OnnxAttention, ARowOfLeastNumbersSeesAllKeys) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    Call call = MeanOf(4);
    call.operands[0] = Typed(type, {1, 1, 2, 3}, {0, 0, 0, 0, 0, 0});
    call.operands.push_back(
        Floats({2, 4}, std::vector<float>(8, std::numeric_limits<float>::lowest())));
    EXPECT_THAT(Values(Eval(call)), ElementsAre(3.75, 3.75)) << Name(type);
  }
}

TEST(OnnxAttention, AShortMaskHidesTheOtherKeys) {
  Call call = MeanOf(4);
  call.operands.push_back(Floats({2, 2}, {0, 0, 0, -INFINITY}));
  EXPECT_THAT(Values(Eval(call)), ElementsAre(1.5, 1));
  call.operands.back() = Typed(DataType::kBool, {2, 2}, {1, 1, 0, 1});
  EXPECT_THAT(Values(Eval(call)), ElementsAre(1.5, 2));
}

TEST(OnnxAttention, CausalCountsFromThePast) {
  EXPECT_THAT(Values(Eval(MeanOf(4, {{"is_causal", 1}}))), ElementsAre(1, 1.5));
  Call call = MeanOf(2, {{"is_causal", 1}});
  call.operands.insert(call.operands.end(),
                       {Absent(), Counting({1, 1, 2, 3}, 0, 1), Floats({1, 1, 2, 1}, {16, 32})});
  call.count = 3;
  const auto outputs = RunCall(call);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  EXPECT_THAT(Values((*outputs)[0]), ElementsAre(DoubleNear(49.0 / 3, 1e-6), 51.0 / 4));
  EXPECT_THAT((*outputs)[1].shape(), ElementsAre(1, 1, 4, 3));
  EXPECT_THAT(Values((*outputs)[2]), ElementsAre(16, 32, 1, 2));
}

TEST(OnnxAttention, LengthsOfBatches) {
  Call call = MeanOf(4);
  call.operands.insert(call.operands.end(), {Absent(), Absent(), Absent(), Ints({1}, {3})});
  EXPECT_THAT(Values(Eval(call)),
              ElementsAre(DoubleNear(7.0 / 3, 1e-6), DoubleNear(7.0 / 3, 1e-6)));
  call.attributes = {{"is_causal", 1}};  // the last query has the position of the third key
  EXPECT_THAT(Values(Eval(call)), ElementsAre(1.5, DoubleNear(7.0 / 3, 1e-6)));
}

TEST(OnnxAttention, HeadsBesideEachOther) {
  // Two query heads share one key head.
  const Call call = {
      .op = "Attention",
      .attributes = {{"q_num_heads", 2}, {"kv_num_heads", 1}},
      .operands = {Counting({1, 2, 6}, 0, 0), Counting({1, 2, 3}), Floats({1, 2, 1}, {1, 2})},
      .opset = 23};
  const Array y = Eval(call);
  EXPECT_THAT(y.shape(), ElementsAre(1, 2, 2));
  EXPECT_THAT(Values(y), ElementsAre(1.5, 1.5, 1.5, 1.5));
  Call wrong = call;
  wrong.attributes[0] = {"q_num_heads", 4};
  EXPECT_THAT(ErrorOf(wrong), HasSubstr("q_num_heads is 4, expected a divisor of 6"));
}

TEST(OnnxAttention, ScoresOnRequest) {
  Call call = MeanOf(4, {{"is_causal", 1}, {"qk_matmul_output_mode", 3}});
  call.count = 4;
  const auto outputs = RunCall(call);
  ASSERT_TRUE(outputs) << outputs.error().Format();
  EXPECT_THAT(Values((*outputs)[3]), ElementsAre(1, 0, 0, 0, 0.5, 0.5, 0, 0));
  for (const int mode : {-1, 4}) {
    call.attributes.back() = {"qk_matmul_output_mode", mode};
    EXPECT_THAT(ErrorOf(call), HasSubstr("qk_matmul_output_mode is " + std::to_string(mode)));
  }
}

}  // namespace
}  // namespace tunec::onnx_test
