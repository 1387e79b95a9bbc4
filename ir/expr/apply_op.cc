// The evaluation of scalar operators, with separate functions for floats and integers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "ir/expr/evaluate_expr.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tunec {
namespace {

// Return the IEEE 754-2019 minimum and maximum: NaN if either operand is NaN, and -0 < +0.
double Minimum(double a, double b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double Maximum(double a, double b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double FloorMod(double a, double b) {
  const double remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(0.0, b);
  return std::signbit(remainder) != std::signbit(b) ? remainder + b : remainder;
}

double Sign(double a) {
  if (std::isnan(a)) return a;
  if (a == 0) return 0;
  return a < 0 ? -1.0 : 1.0;
}

double Gelu(double a) { return a * (0.5 * std::erfc(a * -std::numbers::sqrt2 / 2)); }

// Returns a / (1 + exp(-2 u)), which equals a/2 * (1 + tanh u).
double GeluTanh(double a) {
  const double u = std::sqrt(2 / std::numbers::pi) * (a + 0.044715 * (a * a * a));
  if (u >= 0) return a / (1 + std::exp(-2 * u));
  const double decay = std::exp(2 * u);
  return a * decay / (1 + decay);
}

double Silu(double a) {
  if (a >= 0) return a / (1 + std::exp(-a));
  const double root = std::exp(0.5 * a);  // its square may be denormal
  return a * root / (1 + root * root) * root;
}

double Mish(double a) {
  if (a > 20) return a;
  const double root = std::exp(0.5 * a);
  const double power = root * root;
  return a * root * ((power + 2) / (power * (power + 2) + 2)) * root;
}

double ApplyToFloats(ScalarOp op, double a, double b, double c) {
  switch (op) {
    case ScalarOp::kAdd:
      return a + b;
    case ScalarOp::kSub:
      return a - b;
    case ScalarOp::kMul:
      return a * b;
    case ScalarOp::kDiv:
      return a / b;
    case ScalarOp::kFloorMod:
      return FloorMod(a, b);
    case ScalarOp::kTruncMod:
      return std::fmod(a, b);
    case ScalarOp::kPow:
      return std::pow(a, b);
    case ScalarOp::kMin:
      return Minimum(a, b);
    case ScalarOp::kMax:
      return Maximum(a, b);
    case ScalarOp::kNeg:
      return -a;
    case ScalarOp::kAbs:
      return std::fabs(a);
    case ScalarOp::kSign:
      return Sign(a);
    case ScalarOp::kExp:
      return std::exp(a);
    case ScalarOp::kLog:
      return std::log(a);
    case ScalarOp::kExpm1:
      return std::expm1(a);
    case ScalarOp::kLog1p:
      return std::log1p(a);
    case ScalarOp::kLog2:
      return std::log2(a);
    case ScalarOp::kLog10:
      return std::log10(a);
    case ScalarOp::kGelu:
      return Gelu(a);
    case ScalarOp::kGeluTanh:
      return GeluTanh(a);
    case ScalarOp::kSilu:
      return Silu(a);
    case ScalarOp::kMish:
      return Mish(a);
    case ScalarOp::kSqrt:
      return std::sqrt(a);
    case ScalarOp::kRsqrt:
      return 1 / std::sqrt(a);
    case ScalarOp::kTanh:
      return std::tanh(a);
    case ScalarOp::kErf:
      return std::erf(a);
    case ScalarOp::kSin:
      return std::sin(a);
    case ScalarOp::kCos:
      return std::cos(a);
    case ScalarOp::kTan:
      return std::tan(a);
    case ScalarOp::kAsin:
      return std::asin(a);
    case ScalarOp::kAcos:
      return std::acos(a);
    case ScalarOp::kAtan:
      return std::atan(a);
    case ScalarOp::kSinh:
      return std::sinh(a);
    case ScalarOp::kCosh:
      return std::cosh(a);
    case ScalarOp::kAsinh:
      return std::asinh(a);
    case ScalarOp::kAcosh:
      return std::acosh(a);
    case ScalarOp::kAtanh:
      return std::atanh(a);
    case ScalarOp::kFloor:
      return std::floor(a);
    case ScalarOp::kCeil:
      return std::ceil(a);
    case ScalarOp::kRound:
      return std::nearbyint(a);
    case ScalarOp::kTrunc:
      return std::trunc(a);
    case ScalarOp::kFma:
      return std::fma(a, b, c);
    default:
      TUNEC_UNREACHABLE("{} of floats", Name(op));
  }
}

bool CompareFloats(ScalarOp op, double a, double b) {
  switch (op) {
    case ScalarOp::kEq:
      return a == b;
    case ScalarOp::kNe:
      return a != b;
    case ScalarOp::kLt:
      return a < b;
    case ScalarOp::kLe:
      return a <= b;
    case ScalarOp::kIsNan:
      return std::isnan(a);
    case ScalarOp::kIsInf:
      return std::isinf(a);
    default:
      TUNEC_UNREACHABLE("{} is not a comparison", Name(op));
  }
}

bool Less(int64_t a, int64_t b, DataType type) {
  return type == DataType::kU64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

bool CompareIntegers(ScalarOp op, int64_t a, int64_t b, DataType type) {
  switch (op) {
    case ScalarOp::kEq:
      return a == b;
    case ScalarOp::kNe:
      return a != b;
    case ScalarOp::kLt:
      return Less(a, b, type);
    case ScalarOp::kLe:
      return !Less(b, a, type);
    default:
      return false;  // isnan, isinf
  }
}

// Multiply, Add and Negate compute with unsigned numbers, so that overflow wraps.
int64_t Multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t Add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t Negate(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

// Returns the quotient or the remainder. `op` must be kDiv, kFloorMod or kTruncMod, and `b` must
// not be 0.
int64_t Divide(ScalarOp op, int64_t a, int64_t b, DataType type) {
  if (type == DataType::kU64) {
    const auto x = static_cast<uint64_t>(a);
    const auto y = static_cast<uint64_t>(b);
    return static_cast<int64_t>(op == ScalarOp::kDiv ? x / y : x % y);
  }
  // The quotient of the smallest int64 and -1 overflows; it wraps to the smallest int64.
  if (b == -1) return op == ScalarOp::kDiv ? Negate(a) : 0;
  if (op == ScalarOp::kDiv) return a / b;
  const int64_t remainder = a % b;
  const bool adjust = op == ScalarOp::kFloorMod && remainder != 0 && (remainder < 0) != (b < 0);
  return adjust ? remainder + b : remainder;
}

int64_t Power(int64_t base, int64_t exponent, DataType type) {
  if (exponent < 0 && type != DataType::kU64) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  int64_t result = 1;
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if ((e & 1) != 0) result = Multiply(result, base);
    base = Multiply(base, base);
  }
  return result;
}

int64_t Shift(ScalarOp op, int64_t a, int64_t amount, DataType type) {
  const auto bits = static_cast<int64_t>(8 * SizeOf(type));
  const bool all = amount < 0 || amount >= bits;
  if (op == ScalarOp::kShl) {
    return all ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << amount);
  }
  if (IsSigned(type)) return a >> (all ? 63 : amount);
  return all ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> amount);
}

int64_t SignOf(int64_t a, DataType type) {
  if (a == 0) return 0;
  return IsSigned(type) && a < 0 ? -1 : 1;
}

int64_t ApplyToIntegers(ScalarOp op, int64_t a, int64_t b, int64_t c, DataType type) {
  switch (op) {
    case ScalarOp::kAdd:
      return Add(a, b);
    case ScalarOp::kSub:
      return Add(a, Negate(b));
    case ScalarOp::kMul:
      return Multiply(a, b);
    case ScalarOp::kDiv:
    case ScalarOp::kFloorMod:
    case ScalarOp::kTruncMod:
      return Divide(op, a, b, type);
    case ScalarOp::kPow:
      return Power(a, b, type);
    case ScalarOp::kMin:
      return Less(b, a, type) ? b : a;
    case ScalarOp::kMax:
      return Less(a, b, type) ? b : a;
    case ScalarOp::kAnd:
      return a & b;
    case ScalarOp::kOr:
      return a | b;
    case ScalarOp::kXor:
      return a ^ b;
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      return Shift(op, a, b, type);
    case ScalarOp::kNeg:
      return Negate(a);
    case ScalarOp::kAbs:
      return IsSigned(type) && a < 0 ? Negate(a) : a;
    case ScalarOp::kSign:
      return SignOf(a, type);
    case ScalarOp::kNot:
      return type == DataType::kBool ? (a == 0 ? 1 : 0) : ~a;
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kTrunc:
      return a;
    case ScalarOp::kFma:
      return Add(Multiply(a, b), c);
    default:
      TUNEC_UNREACHABLE("{} of integers", Name(op));
  }
}

bool Divides(ScalarOp op) {
  return op == ScalarOp::kDiv || op == ScalarOp::kFloorMod || op == ScalarOp::kTruncMod;
}

double RoundResult(ScalarOp op, double value, double a, double b, double c, DataType type) {
  // An fma in double rounds to double, and rounding this result to f32 is a second rounding.
  // Therefore fma of f32 is computed in f32.
  if (op == ScalarOp::kFma && type == DataType::kF32) {
    return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
  return RoundTo(value, type);
}

}  // namespace

bool IsDefined(ScalarOp op, DataType type) { return Contains(DomainOf(op), type); }

Scalar ApplyOp(ScalarOp op, DataType type, std::span<const Scalar> x, Precision precision) {
  if (op == ScalarOp::kSelect) {
    if (x[0].invalid) return Scalar::Invalid();
    return x[0].integer != 0 ? x[1] : x[2];
  }
  const Scalar& a = x[0];
  const Scalar& b = x.size() > 1 ? x[1] : x[0];
  const Scalar& c = x.size() > 2 ? x[2] : x[0];
  if (a.invalid || b.invalid || c.invalid) return Scalar::Invalid();
  if (IsFloat(type)) {
    if (ResultOf(op) == ResultType::kBool) {
      return Scalar::Integer(CompareFloats(op, a.real, b.real) ? 1 : 0);
    }
    const double value = ApplyToFloats(op, a.real, b.real, c.real);
    if (precision == Precision::kFloat64) return Scalar::Real(value);
    return Scalar::Real(RoundResult(op, value, a.real, b.real, c.real, type));
  }
  if (ResultOf(op) == ResultType::kBool) {
    return Scalar::Integer(CompareIntegers(op, a.integer, b.integer, type) ? 1 : 0);
  }
  if (Divides(op) && b.integer == 0) return Scalar::Invalid();
  return Scalar::Integer(WrapTo(ApplyToIntegers(op, a.integer, b.integer, c.integer, type), type));
}

}  // namespace tunec
