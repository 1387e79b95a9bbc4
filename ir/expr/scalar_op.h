// The scalar operators, one row each, with their properties. A row without one of the properties
// does not compile. The columns:
//   id, name  the enumerator, and the word in texts
//   operands  the number of operands
//   result    ResultType: the rule for the type of the result
//   domain    Domain: the types of operands that the operator is defined for (kSelect: of the
//             values); the verifier rejects other types
//   order     OperandOrder: commutative or not
//   checker   the rule by which the checker bounds the error of the result:
//             autotune/checker/bounded_expr.cc defines the rules
//
// A new operator is rarely needed, because most functions are expressions of these. Add
// - the meaning in ir/expr/apply_op.cc;
// - the code in jit/emit/op.cc, with a function in jit/math/ for an elementary function;
// - the error and the size of the code in jit/scalar_code.cc.
// The compiler warns of or rejects an omission, or the program stops at the operator.
// tests/jit/types_test.cc runs each operator on all types that it is defined for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/data_type.h"

namespace tunec {

/// The rule by which the type of the result follows from the operands.
enum class ResultType : uint8_t { kSame, kBool };
/// The commutativity of an operator. kCommutes means that op(a, b) == op(b, a) for all values.
enum class OperandOrder : uint8_t { kCommutes, kOrdered };

// The table of operators. X is a macro with the parameters (id, name, operands, result, domain,
// order, checker).
// clang-format off
#define TUNEC_SCALAR_OPS(X)                                                                        \
  X(kAdd, "add", 2, kSame, kNumber, kCommutes, Sum)                                                \
  X(kSub, "sub", 2, kSame, kNumber, kOrdered, Sum)                                                 \
  X(kMul, "mul", 2, kSame, kNumber, kCommutes, Product)                                            \
  X(kDiv, "div", 2, kSame, kNumber, kOrdered, Quotient)  /* integers: towards zero */              \
  X(kFloorMod, "floormod", 2, kSame, kNumber, kOrdered, Remainder)  /* sign of the divisor */      \
  /* sign of the dividend, C's fmod and % */                                                       \
  X(kTruncMod, "truncmod", 2, kSame, kNumber, kOrdered, Remainder)                                 \
  X(kPow, "pow", 2, kSame, kNumber, kOrdered, Power)                                               \
  X(kMin, "min", 2, kSame, kAny, kCommutes, Extreme)  /* NaN if either is */                       \
  X(kMax, "max", 2, kSame, kAny, kCommutes, Extreme)  /* NaN if either is */                       \
  X(kAnd, "and", 2, kSame, kBits, kCommutes, Bits)                                                 \
  X(kOr, "or", 2, kSame, kBits, kCommutes, Bits)                                                   \
  X(kXor, "xor", 2, kSame, kBits, kCommutes, Bits)                                                 \
  X(kShl, "shl", 2, kSame, kInteger, kOrdered, Bits)                                               \
  X(kShr, "shr", 2, kSame, kInteger, kOrdered, Bits)                                               \
  X(kEq, "eq", 2, kBool, kAny, kCommutes, Comparison)                                              \
  X(kNe, "ne", 2, kBool, kAny, kCommutes, Comparison)                                              \
  X(kLt, "lt", 2, kBool, kAny, kOrdered, Comparison)                                               \
  X(kLe, "le", 2, kBool, kAny, kOrdered, Comparison)                                               \
  X(kNeg, "neg", 1, kSame, kNumber, kOrdered, Same)                                                \
  X(kAbs, "abs", 1, kSame, kNumber, kOrdered, Same)                                                \
  X(kSign, "sign", 1, kSame, kNumber, kOrdered, Sign)                                              \
  X(kNot, "not", 1, kSame, kBits, kOrdered, Bits)  /* bitwise; logical for bool */                 \
  X(kExp, "exp", 1, kSame, kFloat, kOrdered, SteepAbove)                                           \
  X(kExpm1, "expm1", 1, kSame, kFloat, kOrdered, SteepAbove)  /* without rounding exp(x) first */  \
  X(kLog, "log", 1, kSame, kFloat, kOrdered, SteepToward0)                                         \
  /* without rounding 1 + x first */                                                               \
  X(kLog1p, "log1p", 1, kSame, kFloat, kOrdered, SteepTowardMinus1)                                \
  X(kLog2, "log2", 1, kSame, kFloat, kOrdered, SteepToward0)  /* exact for powers of two */        \
  X(kLog10, "log10", 1, kSame, kFloat, kOrdered, SteepToward0)  /* exact for powers of ten */      \
  X(kSqrt, "sqrt", 1, kSame, kFloat, kOrdered, SteepToward0)                                       \
  X(kRsqrt, "rsqrt", 1, kSame, kFloat, kOrdered, SteepToward0)                                     \
  X(kTanh, "tanh", 1, kSame, kFloat, kOrdered, BoundedSlope)                                       \
  X(kErf, "erf", 1, kSame, kFloat, kOrdered, BoundedSlope)                                         \
  X(kGelu, "gelu", 1, kSame, kFloat, kOrdered, BoundedSlope)  /* x * P(Z <= x), Z ~ N(0, 1) */     \
  X(kGeluTanh, "gelu_tanh", 1, kSame, kFloat, kOrdered, BoundedSlope)  /* gelu, by tanh */         \
  X(kSilu, "silu", 1, kSame, kFloat, kOrdered, BoundedSlope)  /* x / (1 + exp(-x)) */              \
  X(kMish, "mish", 1, kSame, kFloat, kOrdered, BoundedSlope)  /* x * tanh(log(1 + exp(x))) */      \
  X(kSin, "sin", 1, kSame, kFloat, kOrdered, BoundedSlope)                                         \
  X(kCos, "cos", 1, kSame, kFloat, kOrdered, BoundedSlope)                                         \
  X(kTan, "tan", 1, kSame, kFloat, kOrdered, SteepOutward)                                         \
  X(kAsin, "asin", 1, kSame, kFloat, kOrdered, SteepOutwardTo1)                                    \
  X(kAcos, "acos", 1, kSame, kFloat, kOrdered, SteepOutwardTo1)                                    \
  X(kAtan, "atan", 1, kSame, kFloat, kOrdered, BoundedSlope)                                       \
  X(kSinh, "sinh", 1, kSame, kFloat, kOrdered, SteepOutward)                                       \
  X(kCosh, "cosh", 1, kSame, kFloat, kOrdered, SteepOutward)                                       \
  X(kAsinh, "asinh", 1, kSame, kFloat, kOrdered, BoundedSlope)                                     \
  X(kAcosh, "acosh", 1, kSame, kFloat, kOrdered, SteepToward1)                                     \
  X(kAtanh, "atanh", 1, kSame, kFloat, kOrdered, SteepOutwardTo1)                                  \
  X(kFloor, "floor", 1, kSame, kNumber, kOrdered, Step)                                            \
  X(kCeil, "ceil", 1, kSame, kNumber, kOrdered, Step)                                              \
  X(kRound, "round", 1, kSame, kNumber, kOrdered, Step)  /* halves to even */                      \
  X(kTrunc, "trunc", 1, kSame, kNumber, kOrdered, Step)                                            \
  X(kIsNan, "isnan", 1, kBool, kAny, kOrdered, Exact)                                              \
  X(kIsInf, "isinf", 1, kBool, kAny, kOrdered, Exact)                                              \
  X(kSelect, "select", 3, kSame, kAny, kOrdered, Selection)  /* condition ? second : third */      \
  /* first * second + third, with an unrounded product */                                          \
  X(kFma, "fma", 3, kSame, kNumber, kOrdered, MultiplyAdd)
// clang-format on

enum class ScalarOp : uint8_t {
#define TUNEC_ENUMERATOR(id, ...) id,
  TUNEC_SCALAR_OPS(TUNEC_ENUMERATOR)
#undef TUNEC_ENUMERATOR
};

std::string_view Name(ScalarOp op);
int Arity(ScalarOp op);
ResultType ResultOf(ScalarOp op);
Domain DomainOf(ScalarOp op);
std::optional<ScalarOp> ParseScalarOp(std::string_view name);
/// Returns whether op(a, b) == op(b, a) for all values.
bool IsCommutative(ScalarOp op);

}  // namespace tunec
