#include "graph/reference/scalar_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "graph/reference/run.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tunec::reference {
namespace {

double Sigmoid(double x) {
  const double decay = std::exp(-std::abs(x));
  return (x < 0 ? decay : 1) / (1 + decay);
}
double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double Sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
double Clamp(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

// Uses 1 + erf(x) = erfc(-x) and 1 + tanh(x) = 2*sigmoid(2*x), so the relative error is small also
// for large negative x.
double Gelu(double x) { return x * (0.5 * std::erfc(-x / std::numbers::sqrt2)); }
double GeluTanh(double x) {
  const double c = std::sqrt(2 / std::numbers::pi);
  return x * Sigmoid(2 * c * (x + 0.044715 * x * x * x));
}

using Float1 = std::function<double(double)>;
using Int1 = std::function<int64_t(int64_t)>;
using Float2 = std::function<double(double, double)>;
using Int2 = std::function<int64_t(int64_t, int64_t)>;

// Returns kFunction, regardless of the node's attributes and the operand's type.
template <auto kFunction>
Float1 Floats(const Node&) {
  return kFunction;
}
template <auto kFunction>
Float2 Floats2(const Node&) {
  return kFunction;
}
template <auto kFunction>
Int2 Ints2(const Node&, DataType) {
  return kFunction;
}

Float1 IsInf(const Node& node) {
  const bool low = node.Int("detect_negative") != 0, high = node.Int("detect_positive") != 0;
  return [=](double x) { return std::isinf(x) && (x < 0 ? low : high) ? 1.0 : 0.0; };
}

Float1 LeakyRelu(const Node& node) {
  return [alpha = node.Float("alpha")](double x) { return x < 0 ? alpha * x : x; };
}

Float1 GeluOf(const Node& node) { return node.String("approximate") == "tanh" ? GeluTanh : Gelu; }

Float1 Elu(const Node& node) {
  return [alpha = node.Float("alpha")](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
}

Float1 Selu(const Node& node) {
  const double alpha = node.Float("alpha"), gamma = node.Float("gamma");
  return [=](double x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); };
}

Float1 Celu(const Node& node) {
  return
      [alpha = node.Float("alpha")](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; };
}

Float1 HardSigmoid(const Node& node) {
  const double alpha = node.Float("alpha"), beta = node.Float("beta");
  return [=](double x) { return Clamp(alpha * x + beta, 0, 1); };
}

Float1 ThresholdedRelu(const Node& node) {
  return [alpha = node.Float("alpha")](double x) {
    return x > alpha ? x : 0.0;
  };  // a comparison with NaN is false, so NaN gives 0
}

Float1 Clip(const Node& node) {
  const double lo = node.Float("min"), hi = node.Float("max");
  return [=](double x) { return x < lo ? std::min(lo, hi) : x > hi ? hi : x; };
}

int64_t Negated(int64_t x) { return static_cast<int64_t>(-static_cast<uint64_t>(x)); }

Int1 NegInts(const Node&, DataType) { return Negated; }

Int1 AbsInts(const Node&, DataType type) {
  return [is_signed = IsSigned(type)](int64_t x) { return is_signed && x < 0 ? Negated(x) : x; };
}

Int1 SignInts(const Node&, DataType type) {
  return [is_signed = IsSigned(type)](int64_t x) {
    return is_signed && x < 0 ? int64_t{-1} : int64_t{x != 0};
  };
}

Int1 ReluInts(const Node&, DataType type) {
  return [is_signed = IsSigned(type)](int64_t x) { return is_signed && x < 0 ? int64_t{0} : x; };
}

Int1 NotInts(const Node&, DataType type) {
  if (type == DataType::kBool) return [](int64_t x) { return int64_t{x == 0}; };
  return [](int64_t x) { return ~x; };
}

Int1 ClipInts(const Node& node, DataType type) {
  const int64_t lo = SaturateToInt(node.Float("min"), type),
                hi = SaturateToInt(node.Float("max"), type);
  return [=, is_signed = IsSigned(type)](int64_t x) {
    const bool below = is_signed ? x < lo : static_cast<uint64_t>(x) < static_cast<uint64_t>(lo);
    const int64_t raised = below ? lo : x;
    const bool above =
        is_signed ? raised > hi : static_cast<uint64_t>(raised) > static_cast<uint64_t>(hi);
    return above ? hi : raised;
  };
}

struct UnaryRow {
  Op op;
  Float1 (*floats)(const Node& node);                          // null if floats are not supported
  Int1 (*ints)(const Node& node, DataType operand) = nullptr;  // null if integers are not supported
};
constexpr UnaryRow kUnary[] = {
    {Op::kNeg, Floats<[](double x) { return -x; }>, NegInts},
    {Op::kAbs, Floats<[](double x) { return std::abs(x); }>, AbsInts},
    {Op::kSign, Floats<Sign>, SignInts},
    {Op::kNot, nullptr, NotInts},
    {Op::kExp, Floats<[](double x) { return std::exp(x); }>},
    {Op::kExpm1, Floats<[](double x) { return std::expm1(x); }>},
    {Op::kLog, Floats<[](double x) { return std::log(x); }>},
    {Op::kLog1p, Floats<[](double x) { return std::log1p(x); }>},
    {Op::kLog2, Floats<[](double x) { return std::log2(x); }>},
    {Op::kLog10, Floats<[](double x) { return std::log10(x); }>},
    {Op::kSqrt, Floats<[](double x) { return std::sqrt(x); }>},
    {Op::kRsqrt, Floats<[](double x) { return 1 / std::sqrt(x); }>},
    {Op::kReciprocal, Floats<[](double x) { return 1 / x; }>},
    {Op::kTanh, Floats<[](double x) { return std::tanh(x); }>},
    {Op::kErf, Floats<[](double x) { return std::erf(x); }>},
    {Op::kSin, Floats<[](double x) { return std::sin(x); }>},
    {Op::kCos, Floats<[](double x) { return std::cos(x); }>},
    {Op::kTan, Floats<[](double x) { return std::tan(x); }>},
    {Op::kAsin, Floats<[](double x) { return std::asin(x); }>},
    {Op::kAcos, Floats<[](double x) { return std::acos(x); }>},
    {Op::kAtan, Floats<[](double x) { return std::atan(x); }>},
    {Op::kSinh, Floats<[](double x) { return std::sinh(x); }>},
    {Op::kCosh, Floats<[](double x) { return std::cosh(x); }>},
    {Op::kAsinh, Floats<[](double x) { return std::asinh(x); }>},
    {Op::kAcosh, Floats<[](double x) { return std::acosh(x); }>},
    {Op::kAtanh, Floats<[](double x) { return std::atanh(x); }>},
    {Op::kFloor, Floats<[](double x) { return std::floor(x); }>},
    {Op::kCeil, Floats<[](double x) { return std::ceil(x); }>},
    {Op::kRound, Floats<[](double x) { return std::nearbyint(x); }>},
    {Op::kIsNan, Floats<[](double x) { return std::isnan(x) ? 1.0 : 0.0; }>},
    {Op::kIsInf, IsInf},
    {Op::kRelu, Floats<[](double x) { return x < 0 ? 0 : x; }>, ReluInts},  // NaN is preserved
    {Op::kLeakyRelu, LeakyRelu},
    {Op::kSigmoid, Floats<Sigmoid>},
    {Op::kSilu, Floats<[](double x) { return x * Sigmoid(x); }>},
    {Op::kGelu, GeluOf},
    {Op::kElu, Elu},
    {Op::kSelu, Selu},
    {Op::kCelu, Celu},
    {Op::kSoftplus, Floats<Softplus>},
    {Op::kSoftsign, Floats<[](double x) { return x / (1 + std::abs(x)); }>},
    {Op::kHardSigmoid, HardSigmoid},
    {Op::kHardSwish, Floats<[](double x) { return x * (Clamp(x + 3, 0, 6) / 6); }>},
    {Op::kMish, Floats<[](double x) { return x * std::tanh(Softplus(x)); }>},
    {Op::kThresholdedRelu, ThresholdedRelu},
    {Op::kClip, Clip, ClipInts},
};
static_assert(HasEach(kUnary, [](Op op) { return DefinitionOf(op).name == "Unary"; }),
              "an operator of one operand has no scalar function");

// Returns a function that applies the generic kFunction to int64_t if `type` is signed, and to
// uint64_t otherwise.
template <auto kFunction>
Int2 TypedInts2(const Node&, DataType type) {
  if (IsSigned(type)) return [](int64_t a, int64_t b) { return kFunction(a, b); };
  return [](int64_t a, int64_t b) {
    return static_cast<int64_t>(kFunction(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  };
}

// Applies `f` to the operands as uint64, so that sums and products wrap.
template <class F>
int64_t Wrapped(int64_t a, int64_t b, F f) {
  return static_cast<int64_t>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
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

Int2 PowInts(const Node&, DataType type) { return IsSigned(type) ? Power : UnsignedPower; }

/// Returns the quotient rounded towards zero, wrapped on overflow. Division by zero has no defined
/// result; the function returns 0. T is int64_t or uint64_t.
template <class T>
T Quotient(T a, T b) {
  if (b == 0) return 0;
  if (static_cast<int64_t>(b) == -1 && std::is_signed_v<T>)
    return static_cast<T>(-static_cast<uint64_t>(a));
  return a / b;
}

template <class T>
T Remainder(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) -
                        static_cast<uint64_t>(Quotient(a, b)) * static_cast<uint64_t>(b));
}

// Returns the remainder with the sign of the divisor.
template <class T>
T Modulus(T a, T b) {
  const T r = Remainder(a, b);
  return r != 0 && (r < T{0}) != (b < T{0}) ? r + b : r;
}

Int2 ModInts(const Node& node, DataType type) {
  if (node.Int("fmod") != 0)
    return TypedInts2<[](auto a, auto b) { return Remainder(a, b); }>(node, type);
  return TypedInts2<[](auto a, auto b) { return Modulus(a, b); }>(node, type);
}

Float2 Mod(const Node& node) {
  if (node.Int("fmod") != 0) return [](double a, double b) { return std::fmod(a, b); };
  return [](double a, double b) {
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  };
}

Int2 ShlInts(const Node&, DataType type) {
  return [bits = static_cast<int>(SizeOf(type)) * 8](int64_t a, int64_t b) {
    return b < 0 || b >= bits ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  };
}

Int2 ShrInts(const Node&, DataType type) {
  const int bits = static_cast<int>(SizeOf(type)) * 8;
  return [bits, is_signed = IsSigned(type)](int64_t a, int64_t b) -> int64_t {
    if (b < 0 || b >= bits) return is_signed && a < 0 ? -1 : 0;
    return is_signed ? a >> b : static_cast<int64_t>(static_cast<uint64_t>(a) >> b);
  };
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double Least(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : b < a ? b : a; }
double Greatest(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kNan : b > a ? b : a;
}

struct BinaryRow {
  Op op;
  Float2 (*floats)(const Node& node);  // null if floats are not supported
  Int2 (*ints)(const Node& node, DataType operand);
};
constexpr BinaryRow kBinary[] = {
    {Op::kAdd, Floats2<std::plus<double>{}>,
     Ints2<[](int64_t a, int64_t b) { return Wrapped(a, b, std::plus<>()); }>},
    {Op::kSub, Floats2<std::minus<double>{}>,
     Ints2<[](int64_t a, int64_t b) { return Wrapped(a, b, std::minus<>()); }>},
    {Op::kMul, Floats2<std::multiplies<double>{}>,
     Ints2<[](int64_t a, int64_t b) { return Wrapped(a, b, std::multiplies<>()); }>},
    {Op::kDiv, Floats2<std::divides<double>{}>,
     TypedInts2<[](auto a, auto b) { return Quotient(a, b); }>},
    {Op::kPow, Floats2<[](double a, double b) { return std::pow(a, b); }>, PowInts},
    {Op::kMin, Floats2<Least>, TypedInts2<[](auto a, auto b) { return b < a ? b : a; }>},
    {Op::kMax, Floats2<Greatest>, TypedInts2<[](auto a, auto b) { return a < b ? b : a; }>},
    {Op::kMod, Mod, ModInts},
    {Op::kPrelu, Floats2<[](double a, double b) { return a < 0 ? a * b : a; }>,
     TypedInts2<[](auto a, auto b) {
       return a < 0 ? static_cast<decltype(a)>(Wrapped(a, b, std::multiplies<>())) : a;
     }>},
    {Op::kAnd, nullptr, Ints2<[](int64_t a, int64_t b) { return a & b; }>},
    {Op::kOr, nullptr, Ints2<[](int64_t a, int64_t b) { return a | b; }>},
    {Op::kXor, nullptr, Ints2<[](int64_t a, int64_t b) { return a ^ b; }>},
    {Op::kShl, nullptr, ShlInts},
    {Op::kShr, nullptr, ShrInts},
};
static_assert(HasEach(kBinary, [](Op op) { return DefinitionOf(op).name == "Binary"; }),
              "an operator of two operands has no scalar function");

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

// Returns the function `member` of the operator's row in a table. Aborts if the table has no such
// row or the function is null.
template <class Row, size_t n, class Function>
Function Find(const Row (&rows)[n], Op op, Function Row::*member) {
  const Row* row = std::ranges::find(rows, op, &Row::op);
  TUNEC_CHECK(row != std::end(rows) && row->*member != nullptr, "{} has no such function",
              Name(op));
  return row->*member;
}

}  // namespace

Float1 FloatFunction(const Node& node) { return Find(kUnary, node.op, &UnaryRow::floats)(node); }

Int1 IntFunction(const Node& node, DataType type) {
  return Find(kUnary, node.op, &UnaryRow::ints)(node, type);
}

Float2 FloatFunction2(const Node& node) { return Find(kBinary, node.op, &BinaryRow::floats)(node); }

Int2 IntFunction2(const Node& node, DataType type) {
  return Find(kBinary, node.op, &BinaryRow::ints)(node, type);
}

std::function<bool(double, double)> FloatComparison(Op op) { return Comparison<double>(op); }

std::function<bool(int64_t, int64_t)> IntComparison(Op op, DataType type) {
  if (type != DataType::kU64) return Comparison<int64_t>(op);
  return [compare = Comparison<uint64_t>(op)](int64_t a, int64_t b) {
    return compare(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
  };
}

}  // namespace tunec::reference
