#include "ir/expr/value_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tunec {
namespace {

constexpr DataType kF32 = DataType::kF32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Expr X(DataType type = kF32) { return Expr::Read(0, type); }
Expr Literal(double value, DataType type = kF32) { return Expr::Constant(value, type); }

TEST(ValueRange, OfLiteralsIsThem) {
  EXPECT_EQ(FloatRangeOf(Literal(2.5)), (FloatRange{2.5, 2.5, false}));
  EXPECT_EQ(FloatRangeOf(Literal(NAN)), FloatRange{});
}

TEST(ValueRange, OfReadsAndArithmeticIsEverything) {
  EXPECT_EQ(FloatRangeOf(X()), FloatRange{});
  EXPECT_EQ(FloatRangeOf(Literal(1) + Literal(2)), FloatRange{});
  EXPECT_EQ(FloatRangeOf(Max(X(), Expr::Read(1, kF32))), FloatRange{});
}

TEST(ValueRange, OfClippedValuesHasTheirBoundsAndPerhapsNaN) {
  EXPECT_EQ(FloatRangeOf(Min(Max(X(), Literal(-128)), Literal(127))),
            (FloatRange{-128, 127, true}));
  EXPECT_EQ(FloatRangeOf(Max(Literal(0), X())), (FloatRange{0, kInfinity, true}));
  EXPECT_EQ(FloatRangeOf(Max(X(), Literal(NAN))), FloatRange{});
}

TEST(ValueRange, OfRoundedValuesIsRounded) {
  const Expr clipped = Min(Max(X(), Literal(-2.5)), Literal(3.5));
  EXPECT_EQ(FloatRangeOf(Unary(ScalarOp::kRound, clipped)), (FloatRange{-2, 4, true}));
  EXPECT_EQ(FloatRangeOf(Unary(ScalarOp::kFloor, clipped)), (FloatRange{-3, 3, true}));
  EXPECT_EQ(FloatRangeOf(Unary(ScalarOp::kCeil, clipped)), (FloatRange{-2, 4, true}));
  EXPECT_EQ(FloatRangeOf(Unary(ScalarOp::kTrunc, clipped)), (FloatRange{-2, 3, true}));
}

TEST(ValueRange, OfIntegersIsTheirTypesRoundedToTheFloatType) {
  EXPECT_EQ(FloatRangeOf(Expr::Cast(X(DataType::kI8), kF32)), (FloatRange{-128, 127, false}));
  EXPECT_EQ(FloatRangeOf(Expr::Cast(X(DataType::kU16), kF32)), (FloatRange{0, 65535, false}));
  EXPECT_EQ(FloatRangeOf(Expr::Cast(X(DataType::kU64), kF32)), (FloatRange{0, 0x1p64, false}));
  EXPECT_EQ(FloatRangeOf(Expr::Cast(X(DataType::kI16), DataType::kBF16)),
            (FloatRange{-32768, 32768, false}));
  EXPECT_EQ(FloatRangeOf(Expr::Cast(X(DataType::kBool), kF32)), (FloatRange{0, 1, false}));
}

TEST(ValueRange, OfNarrowedFloatsIsRounded) {
  const Expr below = Min(X(), Literal(65519));
  EXPECT_EQ(FloatRangeOf(Expr::Cast(below, DataType::kF16)), (FloatRange{-kInfinity, 65504, true}));
  const Expr bound = Min(X(), Literal(127.7));
  EXPECT_EQ(FloatRangeOf(Expr::Cast(bound, DataType::kBF16)),
            (FloatRange{-kInfinity, 127.5, true}));
}

}  // namespace
}  // namespace tunec
