#include "ir/array.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "ir/data_type.h"
#include "ir/expr/scalar_op.h"
#include "ir/rounding.h"
#include "ir/target.h"

namespace tunec {
namespace {

// Returns which of `candidate` and its finite neighbours of the same sign is nearest to `value`, as
// 16-bit values. A tie goes to the even one.
uint16_t NearestByNeighbours(float value, uint16_t candidate, float (*decode)(uint16_t)) {
  const auto distance = [&](uint16_t bits) {
    return std::abs(static_cast<double>(decode(bits)) - static_cast<double>(value));
  };
  uint16_t best = candidate;
  for (const int step : {-1, 1}) {
    const auto other = static_cast<uint16_t>(candidate + step);
    if ((other & 0x8000) != (candidate & 0x8000) || !std::isfinite(decode(other))) continue;
    const bool nearer = distance(other) < distance(best);
    const bool even_tie = distance(other) == distance(best) && (other & 1) == 0;
    if (nearer || even_tie) best = other;
  }
  return best;
}

TEST(Half, EveryValueSurvives) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(value))));
    } else {
      EXPECT_EQ(FloatToHalf(value), half);
    }
    const float brain = BFloat16ToFloat(half);
    if (!std::isnan(brain)) {
      EXPECT_EQ(FloatToBFloat16(brain), half);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0xff800000; bits += 4099) {
    const float value = std::bit_cast<float>(bits);
    const uint16_t half = FloatToHalf(value);
    if (std::isfinite(value) && std::isfinite(HalfToFloat(half))) {
      ASSERT_EQ(half, NearestByNeighbours(value, half, HalfToFloat)) << value;
    }
    const uint16_t brain = FloatToBFloat16(value);
    if (std::isfinite(value) && std::isfinite(BFloat16ToFloat(brain))) {
      ASSERT_EQ(brain, NearestByNeighbours(value, brain, BFloat16ToFloat)) << value;
    }
  }
  EXPECT_EQ(FloatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(FloatToHalf(0x1p-25f), 0);
  EXPECT_EQ(FloatToHalf(0x1.000002p-25f), 1);
}

TEST(Rounding, RoundsADoubleOnce) {
  // The value is just above the middle of two f16 numbers. The nearest float is the middle.
  const double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(RoundTo(value, DataType::kF16), 1.0 + 0x1p-10);
  EXPECT_EQ(RoundTo(1.0 + 0x1p-11, DataType::kF16), 1.0);
}

// 1 + u is the middle between 1 and the next number.
TEST(Rounding, IsByHalfAUnitInTheLastPlace) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    const double u = RoundingOf(type);
    EXPECT_EQ(RoundTo(1 + u, type), 1) << Name(type);
    EXPECT_EQ(RoundTo(1 + u * (1 + 0x1p-20), type), 1 + 2 * u) << Name(type);
  }
  EXPECT_EQ(RoundingOf(DataType::kF64), 0x1p-53);
}

// A number above the largest by more than half a unit in the last place is rounded to infinity.
TEST(Rounding, TheLargestFiniteNumberIsRepresented) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    const double largest = LargestFinite(type);
    EXPECT_EQ(RoundTo(largest, type), largest) << Name(type);
    EXPECT_EQ(RoundTo(largest * (1 + RoundingOf(type)), type), INFINITY) << Name(type);
  }
  EXPECT_EQ(LargestFinite(DataType::kF64) * 2, INFINITY);
}

TEST(Rounding, CastsKeepLowBits) {
  EXPECT_EQ(CastToInt(300.0, DataType::kU8), 44);
  EXPECT_EQ(CastToInt(-1.5, DataType::kU8), 255);
  EXPECT_EQ(CastToInt(-300.0, DataType::kI8), -44);
  EXPECT_EQ(CastToInt(70000.0, DataType::kI16), 4464);
  EXPECT_EQ(CastToInt(3e9, DataType::kU16), 0) << "by way of 32 bits";
  EXPECT_EQ(CastToInt(3e9, DataType::kI32), INT32_MIN);
  EXPECT_EQ(CastToInt(-2147483648.5, DataType::kI32), INT32_MIN);
  EXPECT_EQ(CastToInt(3e9, DataType::kU32), 3000000000);
  EXPECT_EQ(CastToInt(-1.0, DataType::kU32), 4294967295);
  EXPECT_EQ(CastToInt(0x1p32 + 1024, DataType::kU32), 0);
  EXPECT_EQ(CastToInt(-3e9, DataType::kU32), int64_t{1} << 31);
  EXPECT_EQ(CastToInt(0x1.8p63, DataType::kU64), INT64_MIN + (int64_t{1} << 62));
  EXPECT_EQ(CastToInt(1e30, DataType::kU64), 0);
  EXPECT_EQ(CastToInt(-1e30, DataType::kU64), INT64_MIN);
  for (const double value : {1e30, -1e30, HUGE_VAL, -HUGE_VAL, double{NAN}}) {
    EXPECT_EQ(CastToInt(value, DataType::kI8), 0) << value;
    EXPECT_EQ(CastToInt(value, DataType::kI64), INT64_MIN) << value;
  }
}

TEST(Rounding, SaturatesAndWraps) {
  EXPECT_EQ(SaturateToInt(1e30, DataType::kI64), INT64_MAX);
  EXPECT_EQ(SaturateToInt(-1e30, DataType::kI32), INT32_MIN);
  EXPECT_EQ(SaturateToInt(300.7, DataType::kU8), 255);
  EXPECT_EQ(SaturateToInt(-3.7, DataType::kI8), -3);
  EXPECT_EQ(SaturateToInt(NAN, DataType::kI32), 0);
  EXPECT_EQ(SaturateToInt(0x1p63, DataType::kU64), INT64_MIN);
  EXPECT_EQ(WrapTo(300, DataType::kU8), 44);
  EXPECT_EQ(LargestInt(DataType::kU64), -1);
  EXPECT_EQ(SmallestInt(DataType::kI16), -32768);
}

TEST(Array, ConvertsElements) {
  for (int t = 0; t <= static_cast<int>(DataType::kBool); ++t) {
    Array array(static_cast<DataType>(t), {2, 2});
    array.SetDouble(3, 1.0);
    array.SetInt(2, 1);
    EXPECT_EQ(array.GetDouble(3), 1.0);
    EXPECT_EQ(array.GetInt(2), 1);
    EXPECT_EQ(array.GetDouble(0), 0.0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0U);
  }
  const Array array(DataType::kF32, {2, 3});
  EXPECT_EQ(array.Reshaped({6}).data(), array.data());
}

TEST(Array, CountsElements) {
  EXPECT_EQ(ElementCount(std::vector<int64_t>{}), 1);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{3, 0, INT64_MAX}), 0);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{INT64_MAX, INT64_MAX}), -1);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{2, -1}), -1);
}

TEST(Names, AreInverses) {
  for (int t = 0; t <= static_cast<int>(DataType::kBool); ++t) {
    EXPECT_EQ(ParseDataType(Name(static_cast<DataType>(t))), static_cast<DataType>(t));
  }
  EXPECT_EQ(ParseDataType("f33"), std::nullopt);
  for (int op = 0; op <= static_cast<int>(ScalarOp::kFma); ++op) {
    EXPECT_EQ(ParseScalarOp(Name(static_cast<ScalarOp>(op))), static_cast<ScalarOp>(op));
  }
}

TEST(Target, PrintsEverything) {
  Target target;
  target.host.features = {"fma", "avx2"};
  EXPECT_EQ(Print(target),
            "cpu generic [avx2,fma] vector_bits=256 vector_registers=16 l1=32768 l2=1048576 "
            "l3=16777216 cores=1 threads=1");
  EXPECT_EQ(target.Kind(), "cpu");
}

TEST(Target, OfADevicePrintsNothingOfTheHost) {
  Target target{.host = {.features = {"avx2"}, .threads = 2},
                .device = Accelerator{.kind = "cuda",
                                      .name = "sm_90a",
                                      .features = {"sm_80", "sm_90a"},
                                      .processors = 132,
                                      .shared_bytes = 232448,
                                      .part = "h100",
                                      .registers = 65536,
                                      .processor_shared_bytes = 233472,
                                      .resident_threads = 2048,
                                      .resident_blocks = 32,
                                      .multiply_adds = 128,
                                      .matrix_f16 = 2048,
                                      .matrix_tf32 = 1024,
                                      .matrix_i8 = 4096,
                                      .l2_bytes = 52428800,
                                      .bytes_per_second = 3350000000000,
                                      .clock_hertz = 1980000000}};
  EXPECT_EQ(Print(target),
            "cuda sm_90a [sm_80,sm_90a] processors=132 shared=232448 part=h100 registers=65536 "
            "processor_shared=233472 threads=2048 blocks=32 multiply_adds=128 "
            "matrix=2048,1024,4096 l2=52428800 "
            "bandwidth=3350000000000 clock=1980000000");
  EXPECT_EQ(target.Kind(), "cuda");
  EXPECT_TRUE(target.Has("sm_80"));
  EXPECT_FALSE(target.Has("avx2"));

  const Target unknown{.device = Accelerator{.kind = "paper", .name = "a4"}};
  EXPECT_EQ(Print(unknown),
            "paper a4 [] processors=1 shared=0 part=- registers=0 processor_shared=0 threads=0 "
            "blocks=0 multiply_adds=0 matrix=0,0,0 l2=0 bandwidth=0 clock=0");
}

TEST(Array, HasTheBytesOfACopyOfItsTypeAndShape) {
  Array array(DataType::kI32, {2, 3}), other(DataType::kI32, {2, 3});
  array.SetInt(4, 7);
  EXPECT_TRUE(HaveSameBytes(array, array));
  EXPECT_FALSE(HaveSameBytes(array, other));
  other.SetInt(4, 7);
  EXPECT_TRUE(HaveSameBytes(array, other));
  EXPECT_FALSE(HaveSameBytes(array, other.Reshaped({3, 2})));
  EXPECT_FALSE(HaveSameBytes(Array(DataType::kI32, {2}), Array(DataType::kF32, {2})));
  EXPECT_TRUE(HaveSameBytes(Array(DataType::kI32, {0}), Array(DataType::kI32, {0})));
}

}  // namespace
}  // namespace tunec
