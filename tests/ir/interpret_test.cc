#include "ir/interpret/interpret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "support/random.h"
#include "tests/programs/text_forms.h"

namespace tunec {
namespace {

Array RandomArray(DataType type, std::vector<int64_t> shape, uint64_t seed) {
  Array array(type, std::move(shape));
  Random random(seed);
  for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, random.Unit() * 2 - 1);
  return array;
}

std::vector<Array> RunText(std::string_view text, const std::vector<Array>& arguments,
                           Precision precision = Precision::kNative) {
  const auto compute = ParseCompute(text, "c.txt");
  if (!compute) {
    ADD_FAILURE() << compute.error().Format();
    return {};
  }
  auto outputs = Interpret(*compute, arguments, precision);
  if (!outputs) ADD_FAILURE() << outputs.error().Format();
  return outputs.value_or(std::vector<Array>{});
}

std::string ErrorOf(std::string_view text, const std::vector<Array>& arguments) {
  const auto compute = ParseCompute(text, "c.txt");
  if (!compute) return compute.error().Format();
  const auto outputs = Interpret(*compute, arguments, Precision::kNative);
  return outputs ? "" : outputs.error().message;
}

TEST(InterpretCompute, MultipliesMatrices) {
  const Array a = RandomArray(DataType::kF32, {37, 29}, 1);
  const Array b = RandomArray(DataType::kF32, {29, 13}, 2);
  const auto begin = std::chrono::steady_clock::now();
  const auto native = RunText(test::kAlignedMatmul, {a, b});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  const auto wide = RunText(test::kAlignedMatmul, {a, b}, Precision::kFloat64);
  ASSERT_EQ(native.size(), 1U);
  EXPECT_EQ(wide[0].type(), DataType::kF64);
  for (int64_t i = 0; i < 37; ++i) {
    for (int64_t j = 0; j < 13; ++j) {
      float sum = 0;
      double wide_sum = 0;
      for (int64_t k = 0; k < 29; ++k) {
        sum += a.As<float>()[i * 29 + k] * b.As<float>()[k * 13 + j];
        wide_sum += a.GetDouble(i * 29 + k) * b.GetDouble(k * 13 + j);
      }
      ASSERT_EQ(native[0].As<float>()[i * 13 + j], std::max(sum, 0.0f));
      ASSERT_EQ(wide[0].As<double>()[i * 13 + j], std::max(wide_sum, 0.0));
    }
  }
}

TEST(InterpretCompute, ReadsOutsideGuardsAreTheirValue) {
  const Array x = RandomArray(DataType::kF32, {9, 4}, 3);
  const Array w = RandomArray(DataType::kF32, {3, 4, 5}, 4);
  const auto y = RunText(test::kConvolution, {x, w});
  for (int64_t o = 0; o < 9; ++o) {
    for (int64_t f = 0; f < 5; ++f) {
      float sum = 0;
      for (int64_t r = 0; r < 3; ++r) {
        for (int64_t c = 0; c < 4; ++c) {
          const int64_t row = o + r - 1;
          const bool inside = row >= 0 && row < 9;
          sum += (inside ? x.As<float>()[row * 4 + c] : 0.0f) * w.As<float>()[(r * 4 + c) * 5 + f];
        }
      }
      ASSERT_EQ(y[0].As<float>()[o * 5 + f], sum);
    }
  }
}

TEST(InterpretCompute, ArgMaxTakesTheFirstOfEqualValues) {
  Array x = RandomArray(DataType::kF32, {6, 37}, 5);
  for (int64_t k = 0; k < 37; ++k) x.SetDouble(37 + k, -INFINITY);
  x.SetDouble(2 * 37 + 4, 5);
  x.SetDouble(2 * 37 + 7, 5);
  x.SetDouble(3 * 37 + 6, NAN);
  const auto out = RunText(test::kArgMax, {x});
  EXPECT_EQ(out[1].GetInt(1), 0);
  EXPECT_EQ(out[1].GetInt(2), 4);
  EXPECT_EQ(out[0].GetDouble(2), 5);
  EXPECT_EQ(out[1].GetInt(3), 6);
}

TEST(InterpretCompute, GathersByValue) {
  const Array x = RandomArray(DataType::kF32, {20, 3}, 6);
  Array index(DataType::kI32, {7});
  for (int64_t i = 0; i < 7; ++i) index.SetInt(i, i * 3);
  const auto y = RunText(test::kNarrowGather, {x, index});
  EXPECT_EQ(y[0].GetDouble(5 * 3 + 2), 2 * x.GetDouble(15 * 3 + 2));
  index.SetInt(4, 20);
  EXPECT_EQ(ErrorOf(test::kNarrowGather, {x, index}),
            "Y: read of T[20, 0] is outside its shape [20, 3]");
}

TEST(InterpretCompute, LayoutsDoNotChangeValues) {
  const Array a = RandomArray(DataType::kF32, {37, 13}, 7);
  const auto c = RunText(test::kBlocked, {a});
  const auto value = static_cast<float>(a.GetDouble(4 * 13 + 10) + (8 * 4 + 2));
  EXPECT_EQ(c[0].GetDouble(4 * 13 + 10), value);
}

TEST(InterpretCompute, FinalisesTuples) {
  const Array x = RandomArray(DataType::kF64, {4, 9}, 8);
  const auto out = RunText(test::kWelford, {x});
  double mean = 0;
  double variance = 0;
  for (int64_t k = 0; k < 9; ++k) mean += x.GetDouble(2 * 9 + k) / 9;
  for (int64_t k = 0; k < 9; ++k) variance += std::pow(x.GetDouble(2 * 9 + k) - mean, 2) / 9;
  EXPECT_NEAR(out[0].GetDouble(2), mean, 1e-14);
  EXPECT_NEAR(out[1].GetDouble(2), variance, 1e-14);
}

TEST(InterpretCompute, AnEmptyReductionIsTheIdentity) {
  const auto c = RunText(R"(compute empty {
    input A: f32[3, 0]
    output C: f32[3]
    S[i: 3, k: 0 reduction]:
      C[i] max= A[i, k]
  })",
                         {Array(DataType::kF32, {3, 0})});
  EXPECT_EQ(c[0].GetDouble(2), -INFINITY);
}

TEST(InterpretCompute, RejectsWrongArguments) {
  const Array a(DataType::kF32, {37, 29});
  EXPECT_EQ(ErrorOf(test::kAlignedMatmul, {a}), "argument B is missing");
  EXPECT_EQ(ErrorOf(test::kAlignedMatmul, {a, a}),
            "argument B is f32[37, 29], expected f32[29, 13]");
  EXPECT_EQ(ErrorOf(test::kTriangle, {Array(DataType::kF64, {10, 10}), a}),
            "2 arguments, expected 1");
}

TEST(InterpretCompute, ReportsReadsOfNothing) {
  EXPECT_EQ(ErrorOf(R"(compute c {
    workspace T: f32[4]
    output C: f32[4]
    S[i: 4] where 2 - i >= 0:
      T[i] = 1.0
    U[i: 4]:
      C[i] = T[i]
  })",
                    {}),
            "U: read of T[3], which nothing wrote");
  EXPECT_EQ(ErrorOf(R"(compute c {
    output C: f32[4]
    S[i: 4] where 2 - i >= 0:
      C[i] = 1.0
  })",
                    {}),
            "nothing wrote the output C[3]");
  EXPECT_EQ(ErrorOf(R"(compute c {
    output C: i32[4]
    S[i: 4]:
      C[i] = 1i32 / index_i32(i)
  })",
                    {}),
            "S: integer division by zero");
}

TEST(InterpretCompute, UpdatesInPlaceThroughAnAlias) {
  const auto c = RunText(R"(compute c {
    input A: f32[4]
    output C: f32[4] alias A
    S[i: 4] where i - 2 >= 0:
      C[i] = C[i] + 1.0
  })",
                         {RandomArray(DataType::kF32, {4}, 9)});
  const Array a = RandomArray(DataType::kF32, {4}, 9);
  EXPECT_EQ(c[0].GetDouble(0), a.GetDouble(0));
  EXPECT_EQ(c[0].GetDouble(3), static_cast<float>(a.GetDouble(3) + 1));
}

}  // namespace
}  // namespace tunec
