#include "ir/expr/expr.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/expr/evaluate_expr.h"
#include "ir/rounding.h"
#include "ir/text/parse_expr.h"
#include "ir/text/print_expr.h"
#include "tests/ir/random_ir.h"

namespace tunec {
namespace {

constexpr DataType kF32 = DataType::kF32;
constexpr DataType kI32 = DataType::kI32;

const TextNames kNames{.variable = [](VarId v) { return std::string(1, "ijk"[v.index()]); },
                       .read = [](int slot) { return fmt::format("@{}", slot); },
                       .loaded = [](int slot) { return fmt::format("@{}", slot); }};

Expr X(DataType type = kF32) { return Expr::Read(0, type); }
Expr Y(DataType type = kF32) { return Expr::Read(1, type); }

// Parses an expression of the variables i, j and k. @0 to @2 read scalar tensors of the type.
Result<Expr> Parse(std::string_view text, DataType type) {
  auto lexer = Lexer::Create(text, "expr");
  if (!lexer) return std::unexpected(lexer.error());
  Tensors tensors(3);
  for (Tensor& tensor : tensors) tensor.type = type;
  ExprParser parser(*lexer, tensors, [](const std::string& name) -> std::optional<VarId> {
    return VarId(name[0] - 'i');
  });
  for (const TensorId t : tensors.ids()) parser.AddRead({t, {}, std::nullopt});
  TUNEC_ASSIGN(Expr expr, parser.ParseExpr());
  if (!lexer->IsAtEnd()) return lexer->Expected("the end");
  return expr;
}

bool SameValue(const Scalar& a, const Scalar& b, DataType type) {
  if (!IsFloat(type)) return a.integer == b.integer;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) && std::isnan(b.real);
  return std::bit_cast<uint64_t>(a.real) == std::bit_cast<uint64_t>(b.real);
}

std::vector<Scalar> RandomReads(Random& random, DataType type) {
  std::vector<Scalar> reads(3);
  for (Scalar& read : reads) {
    read = IsFloat(type) ? Scalar::Real(test::RandomFloat(random, type))
                         : Scalar::Integer(WrapTo(static_cast<int64_t>(random.Below(9)) - 4, type));
  }
  return reads;
}

void CheckSimplify(uint64_t seed, DataType type) {
  Random random(seed);
  const Expr expr = test::RandomExpr(random, type, 4);
  const Expr simple = Simplify(expr);
  RC_LOG() << PrintExpr(expr, kNames) << "\n  =>  " << PrintExpr(simple, kNames);
  RC_ASSERT(simple.type() == expr.type());
  RC_ASSERT(Simplify(simple) == simple);
  const ExprProgram before(expr, Precision::kNative);
  const ExprProgram after(simple, Precision::kNative);
  for (int n = 0; n < 40; ++n) {
    const std::vector<Scalar> reads = RandomReads(random, type);
    const Scalar value = before.Run({.reads = reads});
    if (value.invalid) continue;
    RC_ASSERT(SameValue(after.Run({.reads = reads}), value, type));
  }
}

RC_GTEST_PROP(Expr, StrictSimplifyKeepsF32Values, (uint64_t seed)) { CheckSimplify(seed, kF32); }
RC_GTEST_PROP(Expr, StrictSimplifyKeepsF16Values, (uint64_t seed)) {
  CheckSimplify(seed, DataType::kF16);
}
RC_GTEST_PROP(Expr, StrictSimplifyKeepsI32Values, (uint64_t seed)) { CheckSimplify(seed, kI32); }
RC_GTEST_PROP(Expr, StrictSimplifyKeepsBools, (uint64_t seed)) {
  CheckSimplify(seed, DataType::kBool);
}

RC_GTEST_PROP(Expr, ParsingItsTextGivesIt, (uint64_t seed)) {
  Random random(seed);
  const DataType types[] = {kF32, DataType::kF64, DataType::kF16, DataType::kBF16,
                            kI32, DataType::kI64, DataType::kU8};
  const DataType type = types[random.Below(7)];
  const Expr expr = test::RandomExpr(random, type, 4);
  const std::string text = PrintExpr(expr, kNames);
  const auto parsed = Parse(text, type);
  RC_LOG() << text << (parsed ? "" : parsed.error().Format());
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == expr);
}

RC_GTEST_PROP(Expr, LiteralsRoundTrip, (uint64_t bits)) {
  const float narrow = std::bit_cast<float>(static_cast<uint32_t>(bits));
  const double wide = std::bit_cast<double>(bits);
  for (const Expr& literal :
       {Expr::Constant(double{narrow}, kF32), Expr::Constant(wide, DataType::kF64),
        Expr::Constant(double{narrow}, DataType::kBF16)}) {
    const auto parsed = Parse(PrintExpr(literal, kNames), kF32);
    RC_ASSERT(parsed.has_value());
    // Texts do not contain the payload of a NaN, so the parsed NaN may be another one.
    const double value = literal.node().float_value;
    if (!std::isnan(value)) RC_ASSERT(*parsed == literal);
    if (std::isnan(value)) RC_ASSERT(std::isnan(parsed->node().float_value));
  }
}

std::string Simplified(const Expr& expr) { return PrintExpr(Simplify(expr), kNames); }

TEST(ExprConstant, IsRoundedOnceAndSaturates) {
  // The value is just above the middle of two f16 numbers. If it were first rounded to a float, it
  // would be the middle and be rounded down.
  const double over_the_middle = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_TRUE(Expr::Constant(over_the_middle, DataType::kF16).IsConstant(1.0 + 0x1p-10));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(Expr::Constant(infinity, DataType::kI32).IsConstant(2147483647.0));
  EXPECT_TRUE(Expr::Constant(-infinity, DataType::kI8).IsConstant(-128.0));
}

TEST(Simplify, KeepsSpecialValues) {
  const Expr zero = Expr::Constant(0.0, kF32);
  EXPECT_EQ(Simplified(X() + zero), "@0 + 0.0");
  EXPECT_EQ(Simplified(X() - zero), "@0");
  EXPECT_EQ(Simplified(X() * zero), "@0 * 0.0");
  EXPECT_EQ(Simplified(X(kI32) * Expr::Constant(0, kI32)), "0i32");
  EXPECT_EQ(Simplified(X() / X()), "@0 / @0");
  const Expr exp_log = Unary(ScalarOp::kExp, Unary(ScalarOp::kLog, X()));
  EXPECT_EQ(Simplified(exp_log), "exp(log(@0))");
}

TEST(Simplify, FoldsLiterals) {
  EXPECT_EQ(Simplified(Expr::Constant(2.0, kF32) * Expr::Constant(0.25, kF32) + X()), "0.5 + @0");
  EXPECT_EQ(Simplified(Expr::Constant(7, kI32) / Expr::Constant(0, kI32)), "7i32 / 0i32");
  EXPECT_EQ(Simplified(X() / Expr::Constant(4.0, kF32)), "@0 * 0.25");
  EXPECT_EQ(Simplified(X() / Expr::Constant(3.0, kF32)), "@0 / 3.0");
}

TEST(Simplify, DropsCastsThatLoseNothing) {
  EXPECT_EQ(Simplified(Expr::Cast(Expr::Cast(X(), DataType::kF64), kF32)), "@0");
  EXPECT_EQ(Simplified(Expr::Cast(Expr::Cast(X(), DataType::kF16), kF32)), "f32(f16(@0))");
}

TEST(Simplify, MeetsInOneNormalForm) {
  EXPECT_EQ(Simplified(X() + -Y()), Simplified(X() - Y()));
  const Expr c = Expr::Apply(ScalarOp::kLt, {X(), Y()});
  EXPECT_EQ(Simplified(Expr::Select(Unary(ScalarOp::kNot, c), X(), Y())),
            Simplified(Expr::Select(c, Y(), X())));
}

TEST(Expr, RejectsWithAPlace) {
  const auto error = [](std::string_view text) { return Parse(text, kF32).error().Format(); };
  EXPECT_EQ(error("@0 + 1i32"), "expr:1:4: error: add of f32 and i32, expected one type");
  EXPECT_EQ(error("max(@0)"), "expr:1:1: error: max has 1 operands, expected 2");
  EXPECT_EQ(error("select(@0, @1, @2)"), "expr:1:1: error: select on f32, expected bool");
  EXPECT_EQ(error("@0 + 1"),
            "expr:1:6: error: literal 1 has no type, expected one as in 1.0 or 1i64");
  EXPECT_EQ(error("frob(@0)"), "expr:1:1: error: no operator or type is called frob");
  EXPECT_EQ(error("1.5f99"), "expr:1:4: error: no type is called f99");
  EXPECT_EQ(error("B[i]"), "expr:1:1: error: no tensor is called B");
  EXPECT_FALSE(Parse(std::string(100000, '('), kF32).has_value());
  EXPECT_FALSE(Parse(std::string(100000, '-'), kF32).has_value());
}

TEST(Evaluate, RoundsEachOperationToItsType) {
  const auto run = [](const Expr& e, double x, double y, Precision precision) {
    const Scalar reads[] = {Scalar::Real(x), Scalar::Real(y)};
    return ExprProgram(e, precision).Run({.reads = reads}).real;
  };
  EXPECT_EQ(run(X() + Y(), 1.0, 0x1p-30, Precision::kNative), 1.0);
  EXPECT_EQ(run(X() + Y(), 1.0, 0x1p-30, Precision::kFloat64), 1.0 + 0x1p-30);
  const Expr half = X(DataType::kF16) * Y(DataType::kF16);
  EXPECT_EQ(run(half, 60000, 2, Precision::kNative), INFINITY);
  EXPECT_TRUE(std::isnan(run(Max(X(), Y()), NAN, 1, Precision::kNative)));
  EXPECT_TRUE(std::isnan(run(Min(X(), Y()), 1, NAN, Precision::kNative)));
  EXPECT_EQ(run(Unary(ScalarOp::kRound, X()), 2.5, 0, Precision::kNative), 2.0);
}

TEST(Evaluate, IntegersWrapAndDivideWithoutTraps) {
  const auto run = [](ScalarOp op, int64_t x, int64_t y, DataType type) {
    const Scalar operands[] = {Scalar::Integer(x), Scalar::Integer(y)};
    return ApplyOp(op, type, operands, Precision::kNative);
  };
  EXPECT_EQ(run(ScalarOp::kAdd, 127, 1, DataType::kI8).integer, -128);
  EXPECT_EQ(run(ScalarOp::kDiv, INT64_MIN, -1, DataType::kI64).integer, INT64_MIN);
  EXPECT_EQ(run(ScalarOp::kDiv, -7, 2, kI32).integer, -3);
  EXPECT_EQ(run(ScalarOp::kFloorMod, -7, 2, kI32).integer, 1);
  EXPECT_EQ(run(ScalarOp::kTruncMod, -7, 2, kI32).integer, -1);
  EXPECT_TRUE(run(ScalarOp::kDiv, 1, 0, kI32).invalid);
  EXPECT_EQ(run(ScalarOp::kShl, 1, 40, kI32).integer, 0);
  EXPECT_EQ(run(ScalarOp::kShr, -8, 99, kI32).integer, -1);
  EXPECT_EQ(run(ScalarOp::kLt, -1, 1, DataType::kU64).integer, 0);
}

TEST(Evaluate, SelectForgivesTheSideNotTaken) {
  const Expr zero = Expr::Constant(0, kI32);
  const Expr safe =
      Expr::Select(Expr::Apply(ScalarOp::kEq, {Y(kI32), zero}), zero, X(kI32) / Y(kI32));
  const Scalar reads[] = {Scalar::Integer(5), Scalar::Integer(0)};
  const Scalar value = ExprProgram(safe, Precision::kNative).Run({.reads = reads});
  EXPECT_FALSE(value.invalid);
  EXPECT_EQ(value.integer, 0);
}

}  // namespace
}  // namespace tunec
