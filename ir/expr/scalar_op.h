// The scalar operators and their properties, one row each. A row without one of the properties does
// not compile. The columns:
//   id, name  the enumerator, and the word in texts
//   operands  the number of operands
//   result    ResultType: the rule for the type of the result
//   domain    Domain: the types of operands that the operator is defined for (kSelect: of the
//             values); the verifier rejects other types
//   order     OperandOrder: commutative or not
//
// A new operator is rarely needed, because most functions are expressions of these. Add
// - the meaning in ir/expr/apply_op.cc;
// - the code in jit/emit/op.cc, or in jit/math/ for an elementary function;
// - the error and the size of the code in jit/scalar_code.cc;
// - the error propagation in autotune/checker/bounded_expr.cc: `ErrorOf`, for a function
//   `SteepestOf`, for one with steps `IsSteppy`.
// The compiler warns of or rejects an omission, or the program stops at the operator. Only an
// omission in `IsSteppy` is silent. tests/jit/types_test.cc runs all operators on all types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/data_type.h"

namespace tunec {

/// The rule by which the type of the result follows from the operands.
enum class ResultType : uint8_t { kSame, kBool };
/// kCommutes: op(a, b) == op(b, a) for all values.
enum class OperandOrder : uint8_t { kCommutes, kOrdered };

// X(id, name, operands, result, domain, order)
// clang-format off
#define TUNEC_SCALAR_OPS(X)                                                                        \
  X(kAdd, "add", 2, kSame, kNumber, kCommutes)                                                     \
  X(kSub, "sub", 2, kSame, kNumber, kOrdered)                                                      \
  X(kMul, "mul", 2, kSame, kNumber, kCommutes)                                                     \
  X(kDiv, "div", 2, kSame, kNumber, kOrdered)      /* integers: towards zero */                    \
  X(kFloorMod, "floormod", 2, kSame, kNumber, kOrdered) /* sign of the divisor */                  \
  X(kTruncMod, "truncmod", 2, kSame, kNumber, kOrdered) /* sign of the dividend, C's fmod and % */ \
  X(kPow, "pow", 2, kSame, kNumber, kOrdered)                                                      \
  X(kMin, "min", 2, kSame, kAny, kCommutes)        /* NaN if either is */                          \
  X(kMax, "max", 2, kSame, kAny, kCommutes)        /* NaN if either is */                          \
  X(kAnd, "and", 2, kSame, kBits, kCommutes)                                                       \
  X(kOr, "or", 2, kSame, kBits, kCommutes)                                                         \
  X(kXor, "xor", 2, kSame, kBits, kCommutes)                                                       \
  X(kShl, "shl", 2, kSame, kInteger, kOrdered)                                                     \
  X(kShr, "shr", 2, kSame, kInteger, kOrdered)                                                     \
  X(kEq, "eq", 2, kBool, kAny, kCommutes)                                                          \
  X(kNe, "ne", 2, kBool, kAny, kCommutes)                                                          \
  X(kLt, "lt", 2, kBool, kAny, kOrdered)                                                           \
  X(kLe, "le", 2, kBool, kAny, kOrdered)                                                           \
  X(kNeg, "neg", 1, kSame, kNumber, kOrdered)                                                      \
  X(kAbs, "abs", 1, kSame, kNumber, kOrdered)                                                      \
  X(kSign, "sign", 1, kSame, kNumber, kOrdered)                                                    \
  X(kNot, "not", 1, kSame, kBits, kOrdered)        /* bitwise; logical for bool */                 \
  X(kExp, "exp", 1, kSame, kFloat, kOrdered)                                                       \
  X(kExpm1, "expm1", 1, kSame, kFloat, kOrdered)   /* without rounding exp(x) first */             \
  X(kLog, "log", 1, kSame, kFloat, kOrdered)                                                       \
  X(kLog1p, "log1p", 1, kSame, kFloat, kOrdered)   /* without rounding 1 + x first */              \
  X(kLog2, "log2", 1, kSame, kFloat, kOrdered)     /* exact for powers of two */                   \
  X(kLog10, "log10", 1, kSame, kFloat, kOrdered)   /* exact for powers of ten */                   \
  X(kSqrt, "sqrt", 1, kSame, kFloat, kOrdered)                                                     \
  X(kRsqrt, "rsqrt", 1, kSame, kFloat, kOrdered)                                                   \
  X(kTanh, "tanh", 1, kSame, kFloat, kOrdered)                                                     \
  X(kErf, "erf", 1, kSame, kFloat, kOrdered)                                                       \
  X(kGelu, "gelu", 1, kSame, kFloat, kOrdered)     /* x * P(Z <= x), Z ~ N(0, 1) */                \
  X(kGeluTanh, "gelu_tanh", 1, kSame, kFloat, kOrdered)  /* gelu, by tanh */                       \
  X(kSilu, "silu", 1, kSame, kFloat, kOrdered)     /* x / (1 + exp(-x)) */                         \
  X(kMish, "mish", 1, kSame, kFloat, kOrdered)     /* x * tanh(log(1 + exp(x))) */                 \
  X(kSin, "sin", 1, kSame, kFloat, kOrdered)                                                       \
  X(kCos, "cos", 1, kSame, kFloat, kOrdered)                                                       \
  X(kTan, "tan", 1, kSame, kFloat, kOrdered)                                                       \
  X(kAsin, "asin", 1, kSame, kFloat, kOrdered)                                                     \
  X(kAcos, "acos", 1, kSame, kFloat, kOrdered)                                                     \
  X(kAtan, "atan", 1, kSame, kFloat, kOrdered)                                                     \
  X(kSinh, "sinh", 1, kSame, kFloat, kOrdered)                                                     \
  X(kCosh, "cosh", 1, kSame, kFloat, kOrdered)                                                     \
  X(kAsinh, "asinh", 1, kSame, kFloat, kOrdered)                                                   \
  X(kAcosh, "acosh", 1, kSame, kFloat, kOrdered)                                                   \
  X(kAtanh, "atanh", 1, kSame, kFloat, kOrdered)                                                   \
  X(kFloor, "floor", 1, kSame, kNumber, kOrdered)                                                  \
  X(kCeil, "ceil", 1, kSame, kNumber, kOrdered)                                                    \
  X(kRound, "round", 1, kSame, kNumber, kOrdered)  /* halves to even */                            \
  X(kTrunc, "trunc", 1, kSame, kNumber, kOrdered)                                                  \
  X(kIsNan, "isnan", 1, kBool, kAny, kOrdered)                                                     \
  X(kIsInf, "isinf", 1, kBool, kAny, kOrdered)                                                     \
  X(kSelect, "select", 3, kSame, kAny, kOrdered)   /* condition ? second : third */                \
  X(kFma, "fma", 3, kSame, kNumber, kOrdered)      /* first * second + third, rounded once */
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
/// Checks that op(a, b) == op(b, a) for all values.
bool IsCommutative(ScalarOp op);

}  // namespace tunec
