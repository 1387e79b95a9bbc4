#include "graph/reference/scalar_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ir/rounding.h"
#include "support/check.h"

namespace tunec::reference {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double Sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
double Relu(double x) { return x < 0 ? 0 : x; }  // NaN stays
double Clamp(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

double Gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double GeluTanh(double x) {
  const double c = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(c * (x + 0.044715 * x * x * x)));
}

/// Functions without attributes; null for others.
double (*PlainFunction(Op op))(double) {
  switch (op) {
    case Op::kIdentity:
    case Op::kCopy:
    case Op::kToDevice:
      return [](double x) { return x; };
    case Op::kNeg:
      return [](double x) { return -x; };
    case Op::kAbs:
      return [](double x) { return std::abs(x); };
    case Op::kSign:
      return Sign;
    case Op::kExp:
      return [](double x) { return std::exp(x); };
    case Op::kLog:
      return [](double x) { return std::log(x); };
    case Op::kSqrt:
      return [](double x) { return std::sqrt(x); };
    case Op::kRsqrt:
      return [](double x) { return 1 / std::sqrt(x); };
    case Op::kReciprocal:
      return [](double x) { return 1 / x; };
    case Op::kTanh:
      return [](double x) { return std::tanh(x); };
    case Op::kErf:
      return [](double x) { return std::erf(x); };
    case Op::kSin:
      return [](double x) { return std::sin(x); };
    case Op::kCos:
      return [](double x) { return std::cos(x); };
    case Op::kTan:
      return [](double x) { return std::tan(x); };
    case Op::kAsin:
      return [](double x) { return std::asin(x); };
    case Op::kAcos:
      return [](double x) { return std::acos(x); };
    case Op::kAtan:
      return [](double x) { return std::atan(x); };
    case Op::kSinh:
      return [](double x) { return std::sinh(x); };
    case Op::kCosh:
      return [](double x) { return std::cosh(x); };
    case Op::kAsinh:
      return [](double x) { return std::asinh(x); };
    case Op::kAcosh:
      return [](double x) { return std::acosh(x); };
    case Op::kAtanh:
      return [](double x) { return std::atanh(x); };
    case Op::kFloor:
      return [](double x) { return std::floor(x); };
    case Op::kCeil:
      return [](double x) { return std::ceil(x); };
    case Op::kRound:
      return [](double x) { return std::nearbyint(x); };
    case Op::kIsNan:
      return [](double x) { return std::isnan(x) ? 1.0 : 0.0; };
    case Op::kRelu:
      return Relu;
    case Op::kSigmoid:
      return Sigmoid;
    case Op::kSilu:
      return [](double x) { return x * Sigmoid(x); };
    case Op::kSoftplus:
      return Softplus;
    case Op::kSoftsign:
      return [](double x) { return x / (1 + std::abs(x)); };
    case Op::kHardSwish:
      return [](double x) { return x * Clamp(x / 6 + 0.5, 0, 1); };
    case Op::kMish:
      return [](double x) { return x * std::tanh(Softplus(x)); };
    default:
      return nullptr;
  }
}

int64_t UnsignedPower(int64_t base, int64_t exponent) {
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest > 0; rest >>= 1, square *= square)
    if ((rest & 1) != 0) result *= square;
  return static_cast<int64_t>(result);
}

int64_t Power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  return UnsignedPower(base, exponent);
}

/// Division towards zero; by zero: 0, which no caller may rely on. T: int64_t or uint64_t.
template <class T>
T Quotient(T a, T b) {
  if (b == 0) return 0;
  if (static_cast<int64_t>(b) == -1 && std::is_signed_v<T>)
    return static_cast<T>(-static_cast<uint64_t>(a));
  return a / b;
}

template <class T>
std::function<int64_t(int64_t, int64_t)> TypedIntFunction2(const Node& node) {
  const auto as = [](auto f) {
    return [f](int64_t a, int64_t b) {
      return static_cast<int64_t>(f(static_cast<T>(a), static_cast<T>(b)));
    };
  };
  const auto remainder = [](T a, T b) -> T {
    return static_cast<T>(static_cast<uint64_t>(a) -
                          static_cast<uint64_t>(Quotient(a, b)) * static_cast<uint64_t>(b));
  };
  switch (node.op) {
    case Op::kDiv:
      return as(Quotient<T>);
    case Op::kMin:
      return as([](T a, T b) { return b < a ? b : a; });
    case Op::kMax:
      return as([](T a, T b) { return b > a ? b : a; });
    case Op::kPrelu:
      return [](int64_t a, int64_t b) { return static_cast<T>(a) < T{0} ? a * b : a; };
    case Op::kMod:
      if (node.Int("fmod") != 0) return as(remainder);
      return as([remainder](T a, T b) -> T {
        const T r = remainder(a, b);
        return r != 0 && (r < T{0}) != (b < T{0}) ? r + b : r;
      });
    default:
      return nullptr;
  }
}

}  // namespace

std::function<double(double)> FloatFunction(const Node& node) {
  if (auto* plain = PlainFunction(node.op)) return plain;
  const double alpha = node.op == Op::kGelu || node.op == Op::kClip || node.op == Op::kIsInf
                           ? 0
                           : node.Float("alpha");
  switch (node.op) {
    case Op::kIsInf: {
      const bool low = node.Int("detect_negative") != 0, high = node.Int("detect_positive") != 0;
      return [=](double x) { return std::isinf(x) && (x < 0 ? low : high) ? 1.0 : 0.0; };
    }
    case Op::kLeakyRelu:
      return [=](double x) { return x < 0 ? alpha * x : x; };
    case Op::kGelu:
      return node.String("approximate") == "tanh" ? GeluTanh : Gelu;
    case Op::kElu:
      return [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
    case Op::kSelu: {
      const double gamma = node.Float("gamma");
      return [=](double x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); };
    }
    case Op::kCelu:
      return [=](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; };
    case Op::kHardSigmoid: {
      const double beta = node.Float("beta");
      return [=](double x) { return Clamp(alpha * x + beta, 0, 1); };
    }
    case Op::kThresholdedRelu:
      return [=](double x) { return x > alpha ? x : 0.0; };  // NaN exceeds nothing
    case Op::kClip: {
      const double lo = node.Float("min"), hi = node.Float("max");
      return [=](double x) { return x < lo ? std::min(lo, hi) : x > hi ? hi : x; };
    }
    default:
      TUNEC_UNREACHABLE("{} has no scalar function", Name(node.op));
  }
}

std::function<int64_t(int64_t)> IntFunction(const Node& node, DataType type) {
  const auto negate = [](int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); };
  const bool is_signed = IsSigned(type);
  switch (node.op) {
    case Op::kIdentity:
    case Op::kCopy:
    case Op::kToDevice:
      return [](int64_t x) { return x; };
    case Op::kNeg:
      return negate;
    case Op::kAbs:
      return [=](int64_t x) { return is_signed && x < 0 ? negate(x) : x; };
    case Op::kSign:
      return [=](int64_t x) { return is_signed && x < 0 ? int64_t{-1} : int64_t{x != 0}; };
    case Op::kRelu:
      return [=](int64_t x) { return is_signed && x < 0 ? int64_t{0} : x; };
    case Op::kNot:
      if (type == DataType::kBool) return [](int64_t x) { return int64_t{x == 0}; };
      return [](int64_t x) { return ~x; };
    case Op::kClip: {
      const int64_t lo = FloatToInt(node.Float("min"), type),
                    hi = FloatToInt(node.Float("max"), type);
      return [=](int64_t x) {
        const bool below =
            is_signed ? x < lo : static_cast<uint64_t>(x) < static_cast<uint64_t>(lo);
        const int64_t raised = below ? lo : x;
        const bool above =
            is_signed ? raised > hi : static_cast<uint64_t>(raised) > static_cast<uint64_t>(hi);
        return above ? hi : raised;
      };
    }
    default:
      TUNEC_UNREACHABLE("{} has no integer function", Name(node.op));
  }
}

std::function<double(double, double)> FloatFunction2(const Node& node) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  switch (node.op) {
    case Op::kPow:
      return [](double a, double b) { return std::pow(a, b); };
    case Op::kMin:
      return [](double a, double b) {
        return std::isnan(a) || std::isnan(b) ? kNan : b < a ? b : a;
      };
    case Op::kMax:
      return [](double a, double b) {
        return std::isnan(a) || std::isnan(b) ? kNan : b > a ? b : a;
      };
    case Op::kPrelu:
      return [](double a, double b) { return a < 0 ? a * b : a; };
    case Op::kMod:
      if (node.Int("fmod") != 0) return [](double a, double b) { return std::fmod(a, b); };
      return [](double a, double b) {
        const double r = std::fmod(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
      };
    default:
      TUNEC_UNREACHABLE("{} has no scalar function", Name(node.op));
  }
}

std::function<int64_t(int64_t, int64_t)> IntFunction2(const Node& node, DataType type) {
  const int bits = static_cast<int>(SizeOf(type)) * 8;
  const auto wide = [](int64_t x) { return static_cast<uint64_t>(x); };
  switch (node.op) {
    case Op::kAdd:
      return [=](int64_t a, int64_t b) { return static_cast<int64_t>(wide(a) + wide(b)); };
    case Op::kSub:
      return [=](int64_t a, int64_t b) { return static_cast<int64_t>(wide(a) - wide(b)); };
    case Op::kMul:
      return [=](int64_t a, int64_t b) { return static_cast<int64_t>(wide(a) * wide(b)); };
    case Op::kPow:
      return IsSigned(type) ? Power : UnsignedPower;
    case Op::kAnd:
      return [](int64_t a, int64_t b) { return a & b; };
    case Op::kOr:
      return [](int64_t a, int64_t b) { return a | b; };
    case Op::kXor:
      return [](int64_t a, int64_t b) { return a ^ b; };
    case Op::kShl:
      return [=](int64_t a, int64_t b) {
        return b < 0 || b >= bits ? 0 : static_cast<int64_t>(wide(a) << b);
      };
    case Op::kShr:
      return [=](int64_t a, int64_t b) -> int64_t {
        if (b < 0 || b >= bits) return IsSigned(type) && a < 0 ? -1 : 0;
        return IsSigned(type) ? a >> b : static_cast<int64_t>(wide(a) >> b);
      };
    default:
      break;
  }
  auto typed =
      IsSigned(type) ? TypedIntFunction2<int64_t>(node) : TypedIntFunction2<uint64_t>(node);
  TUNEC_CHECK(typed != nullptr, "{} has no integer function", Name(node.op));
  return typed;
}

namespace {

template <class T>
std::function<bool(T, T)> Comparison(Op op) {
  switch (op) {
    case Op::kEq:
      return [](T a, T b) { return a == b; };
    case Op::kNe:
      return [](T a, T b) { return a != b; };
    case Op::kLt:
      return [](T a, T b) { return a < b; };
    case Op::kLe:
      return [](T a, T b) { return a <= b; };
    case Op::kGt:
      return [](T a, T b) { return a > b; };
    case Op::kGe:
      return [](T a, T b) { return a >= b; };
    default:
      TUNEC_UNREACHABLE("{} is no comparison", Name(op));
  }
}

}  // namespace

std::function<bool(double, double)> FloatComparison(Op op) { return Comparison<double>(op); }

std::function<bool(int64_t, int64_t)> IntComparison(Op op, DataType type) {
  if (type != DataType::kU64) return Comparison<int64_t>(op);
  return [compare = Comparison<uint64_t>(op)](int64_t a, int64_t b) {
    return compare(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
  };
}

}  // namespace tunec::reference
