// The scalar operators, listed once: enumerator, name in text, number of operands, and
// what the result's type is. Everything that depends on an operator (evaluation, emission,
// printing) goes by this list or has a table beside it that a test compares with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tunec {

/// How the type of the result follows from the operands.
enum class ResultType : uint8_t { kSame, kBool };

// clang-format off
#define TUNEC_SCALAR_OPS(X)                                                        \
  X(kAdd, "add", 2, kSame)     X(kSub, "sub", 2, kSame)    X(kMul, "mul", 2, kSame)  \
  X(kDiv, "div", 2, kSame)     /* integers: towards zero */                         \
  X(kFloorMod, "floormod", 2, kSame) /* sign of the divisor */                      \
  X(kTruncMod, "truncmod", 2, kSame) /* sign of the dividend, C's fmod and % */     \
  X(kPow, "pow", 2, kSame)                                                         \
  X(kMin, "min", 2, kSame)     X(kMax, "max", 2, kSame) /* NaN if either is */      \
  X(kAnd, "and", 2, kSame)     X(kOr, "or", 2, kSame)      X(kXor, "xor", 2, kSame)  \
  X(kShl, "shl", 2, kSame)     X(kShr, "shr", 2, kSame)                             \
  X(kEq, "eq", 2, kBool)       X(kNe, "ne", 2, kBool)                               \
  X(kLt, "lt", 2, kBool)       X(kLe, "le", 2, kBool)                               \
  X(kNeg, "neg", 1, kSame)     X(kAbs, "abs", 1, kSame)    X(kSign, "sign", 1, kSame) \
  X(kNot, "not", 1, kSame)     /* bitwise; logical for bool */                      \
  X(kExp, "exp", 1, kSame)     X(kLog, "log", 1, kSame)                             \
  X(kSqrt, "sqrt", 1, kSame)   X(kRsqrt, "rsqrt", 1, kSame)                         \
  X(kTanh, "tanh", 1, kSame)   X(kErf, "erf", 1, kSame)                             \
  X(kSin, "sin", 1, kSame)     X(kCos, "cos", 1, kSame)    X(kTan, "tan", 1, kSame)  \
  X(kAsin, "asin", 1, kSame)   X(kAcos, "acos", 1, kSame)  X(kAtan, "atan", 1, kSame) \
  X(kSinh, "sinh", 1, kSame)   X(kCosh, "cosh", 1, kSame)                           \
  X(kAsinh, "asinh", 1, kSame) X(kAcosh, "acosh", 1, kSame) X(kAtanh, "atanh", 1, kSame) \
  X(kFloor, "floor", 1, kSame) X(kCeil, "ceil", 1, kSame)                           \
  X(kRound, "round", 1, kSame) /* halves to even */                                \
  X(kTrunc, "trunc", 1, kSame)                                                     \
  X(kIsNan, "isnan", 1, kBool) X(kIsInf, "isinf", 1, kBool)                         \
  X(kSelect, "select", 3, kSame) /* condition ? second : third */                  \
  X(kFma, "fma", 3, kSame)     /* first * second + third, rounded once */
// clang-format on

enum class ScalarOp : uint8_t {
#define TUNEC_ENUMERATOR(id, name, arity, result) id,
  TUNEC_SCALAR_OPS(TUNEC_ENUMERATOR)
#undef TUNEC_ENUMERATOR
};

std::string_view Name(ScalarOp op);
int Arity(ScalarOp op);
ResultType ResultOf(ScalarOp op);
std::optional<ScalarOp> ParseScalarOp(std::string_view name);
/// Whether op(a, b) == op(b, a) for all values.
bool IsCommutative(ScalarOp op);

}  // namespace tunec
