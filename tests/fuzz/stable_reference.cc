#include "tests/fuzz/stable_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/reference.h"
#include "ir/rounding.h"
#include "support/random.h"

namespace tunec::fuzz {
namespace {

constexpr size_t kFirstSamples = 12;
constexpr size_t kMostSamples = 120;
constexpr size_t kExactEvery = 6;

double LargestOf(DataType type) {
  if (type == DataType::kF64) return std::numeric_limits<double>::max();
  return type == DataType::kF16 ? 65504 : 0x1.fep127;
}

/// The differences that results of an operator may have from the exact results.
enum class Freedom : uint8_t {
  kNone,        // elements are moved or selected
  kZeroSign,    // elements are selected, but a zero may have either sign
  kArithmetic,  // rounded once, unless the result is exact
  kFunction,    // the function has a documented error
  kSum,         // the additions of a sum may be reordered
};

Freedom FreedomOfScatter(const std::string& reduction) {
  if (reduction == "none") return Freedom::kNone;
  return reduction == "add" || reduction == "mul" ? Freedom::kSum : Freedom::kZeroSign;
}

Freedom FreedomOf(const Node& node) {
  switch (node.op) {
    case Op::kScatter:
      return FreedomOfScatter(node.String("reduction"));
    case Op::kMin:
    case Op::kMax:
    case Op::kRelu:
    case Op::kClip:
    case Op::kReduceMax:
    case Op::kReduceMin:
    case Op::kMaxPool:
    case Op::kSign:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kMod:
    case Op::kThresholdedRelu:
      return Freedom::kZeroSign;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kSqrt:
    case Op::kReciprocal:
    case Op::kCast:
    case Op::kPrelu:
    case Op::kLeakyRelu:
    case Op::kNeg:
    case Op::kAbs:
      return Freedom::kArithmetic;
    case Op::kResize:
      return node.String("mode") == "nearest" ? Freedom::kNone : Freedom::kSum;
    case Op::kBatchNorm:
    case Op::kCumSum:
    case Op::kRotaryEmbedding:
      return Freedom::kSum;
    default:
      break;
  }
  switch (PatternOf(node.op)) {
    case OpPattern::kElementwise:
      return node.op == Op::kIdentity || node.op == Op::kWhere ? Freedom::kNone
                                                               : Freedom::kFunction;
    case OpPattern::kInjective:
    case OpPattern::kOpaque:
      return Freedom::kNone;
    default:
      return Freedom::kSum;
  }
}

/// The largest power of two (`quantum`) that divides all finite elements of an array, and their
/// largest magnitude. If all elements are 0 or not finite, `quantum` is infinite.
struct Grid {
  double quantum = std::numeric_limits<double>::infinity();
  double largest = 0;
};
Grid GridOf(const Array& array) {
  Grid grid;
  for (int64_t i = 0; i < array.size(); ++i) {
    const double x = std::abs(array.GetDouble(i));
    if (x == 0 || !std::isfinite(x)) continue;
    int exponent = 0;
    auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    grid.quantum = std::min(grid.quantum,
                            std::ldexp(static_cast<double>(mantissa & -mantissa), exponent - 53));
    grid.largest = std::max(grid.largest, x);
  }
  return grid;
}

/// Returns true only if the operator is a sum of elements or products that is exact in any order.
bool SumsAreExact(const Node& node, std::span<const Array> inputs, DataType type) {
  if (node.op != Op::kMatmul && node.op != Op::kConv && node.op != Op::kConvTranspose &&
      node.op != Op::kReduceSum && node.op != Op::kReduceL1 && node.op != Op::kReduceSumSquare &&
      node.op != Op::kCumSum)
    return false;
  double quantum = 1, largest = 1;
  int64_t terms = 1;
  for (const Array& input : inputs) {
    const Grid grid = GridOf(input);
    if (grid.largest == 0) continue;
    quantum *= std::min(grid.quantum, 1.0);
    largest *= std::max(grid.largest, 1.0);
    terms = std::max(terms, input.size());
    if (node.op == Op::kReduceSumSquare) {
      quantum *= std::min(grid.quantum, 1.0);
      largest *= std::max(grid.largest, 1.0);
    }
  }
  return static_cast<double>(terms) * largest <= quantum / RoundingOf(type);
}

/// The effect of rounding the mean of a row in kLayerNorm, kInstanceNorm or kGroupNorm. A row has
/// `size` elements. For other operators, `size` is 0 and `of_rows` is empty. `of_rows` has a bound
/// of the absolute error of the results in each row, divided by the relative error of the mean.
struct Centring {
  int64_t size = 0;
  std::vector<double> of_rows;
};
int64_t CentredSize(const Node& node, std::span<const Array> operands) {
  const auto from = [&](int64_t axis) {
    int64_t size = 1;
    for (int64_t d = axis; d < std::ssize(operands[0].shape()); ++d)
      size *= operands[0].shape()[static_cast<size_t>(d)];
    return size;
  };
  switch (node.op) {
    case Op::kLayerNorm: {
      const int64_t axis = node.Int("axis");
      return from(axis < 0 ? axis + std::ssize(operands[0].shape()) : axis);
    }
    case Op::kInstanceNorm:
      return from(2);
    case Op::kGroupNorm:
      return from(1) / node.Int("groups");
    default:
      return 0;
  }
}
double Largest(const Array& array, int64_t from, int64_t to) {
  double largest = 0;
  for (int64_t i = from; i < to; ++i) largest = std::max(largest, std::abs(array.GetDouble(i)));
  return largest;
}
Centring CentringOf(const Node& node, std::span<const Array> operands) {
  Centring centring{.size = CentredSize(node, operands), .of_rows = {}};
  if (centring.size == 0) return centring;
  const Array &x = operands[0], &scale = operands[1];
  const double most = Largest(scale, 0, scale.size());
  for (int64_t row = 0; row < x.size(); row += centring.size) {
    const int64_t end = row + centring.size;
    const auto n = static_cast<double>(centring.size);
    double mean = 0, variance = 0;
    for (int64_t i = row; i < end; ++i) mean += x.GetDouble(i) / n;
    for (int64_t i = row; i < end; ++i) variance += std::pow(x.GetDouble(i) - mean, 2) / n;
    centring.of_rows.push_back(most * Largest(x, row, end) /
                               std::sqrt(variance + node.Float("epsilon")));
  }
  return centring;
}

/// Returns the magnitude below which a result may become 0, because squares or intermediate values
/// are below the type's range. 16-bit floats are computed as f32.
double UnderflowOf(Op op, DataType type) {
  const double least = type == DataType::kF64 ? 0x1p-1012 : 0x1p-116;
  return op == Op::kReduceL2 ? std::sqrt(least) : least;
}

/// One execution in float64 with random errors. Noise is scaled by `strength`. Without noise, equal
/// formulas mostly have equal results.
class Sample {
 public:
  Sample(const Graph& graph, uint64_t seed, double strength)
      : graph_(graph),
        users_(graph.Users()),
        random_(seed),
        strength_(strength),
        in_one_kernel_(random_.Below(3) == 0) {}

  Result<std::vector<Array>> Run(std::span<const Array> inputs) {
    std::vector<Array> values(graph_.values().size());
    for (size_t i = 0; i < inputs.size(); ++i) values[graph_.inputs()[i].index] = inputs[i];
    for (const Node& node : graph_.nodes()) {
      if (node.op == Op::kInput) continue;
      if (node.op == Op::kConstant) {
        values[node.outputs[0].index] = node.constant;
        continue;
      }
      TUNEC_ASSIGN(std::vector<Array> results, RunOne(node, values));
      for (size_t i = 0; i < results.size(); ++i)
        values[node.outputs[i].index] = std::move(results[i]);
    }
    std::vector<Array> outputs;
    for (const ValueId output : graph_.outputs()) outputs.push_back(values[output.index]);
    return outputs;
  }

 private:
  Result<std::vector<Array>> RunOne(const Node& node, const std::vector<Array>& values) {
    std::vector<Array> operands;
    for (const ValueId input : node.inputs)
      operands.push_back(input.valid() ? values[input.index] : Array(DataType::kU8, {0}));
    std::vector<ValueType> types;
    for (const ValueId output : node.outputs) types.push_back(graph_.value(output).type);
    const Freedom freedom = FreedomOf(node);
    const bool exact = freedom == Freedom::kSum && !IsScaledLater(node) &&
                       SumsAreExact(node, operands, types[0].type);
    if (freedom == Freedom::kSum && !exact)
      for (size_t i = 0; i < operands.size(); ++i)
        if (IsFloat(operands[i].type()))
          operands[i] = Disturbed(operands[i], graph_.value(node.inputs[i]).type.type);
    if (strength_ > 0) RoundSome(operands, node);
    if (IsDiscontinuous(node, types[0].type))
      for (size_t i = 0; i < operands.size(); ++i)
        if (IsFloat(operands[i].type()) && (strength_ == 0 || random_.Below(2) == 0))
          operands[i] = Rounded(operands[i], graph_.value(node.inputs[i]).type.type);
    if (node.op == Op::kPow && random_.Below(2) == 0)
      operands[1] = Whole(operands[1], graph_.value(node.inputs[1]).type.type);
    if ((node.op == Op::kEq || node.op == Op::kNe) && random_.Below(4) == 0)
      Meet(operands[0], operands[1], graph_.value(node.inputs[0]).type.type);
    TUNEC_ASSIGN(std::vector<Array> results, RunNode(node, operands, types, Precision::kFloat64));
    // Uncertain results become arbitrary values half of the time only, because later operators may
    // depend on the magnitude of the computed result.
    if (IsUncertain(node, operands, freedom) && random_.Below(2) == 0)
      for (size_t i = 0; i < results.size(); ++i)
        if (IsFloat(types[i].type)) FillAny(results[i]);
    for (size_t i = 0; i < results.size(); ++i)
      if (IsFloat(types[i].type)) Round(results[i], types[i].type, freedom, exact, operands, node);
    return results;
  }

  // Returns true if results may be arbitrary. Intermediate values may leave the range, a periodic
  // function may have a large operand, or a factor of padding or weight 0 may not be finite.
  bool IsUncertain(const Node& node, std::span<const Array> operands, Freedom freedom) const {
    if (freedom != Freedom::kSum && freedom != Freedom::kFunction) return false;
    const bool pads = node.op == Op::kConv || node.op == Op::kConvTranspose ||
                      node.op == Op::kResize || node.op == Op::kAttention;
    const bool periodic = node.op == Op::kSin || node.op == Op::kCos || node.op == Op::kTan;
    for (size_t o = 0; o < operands.size(); ++o) {
      if (!IsFloat(operands[o].type())) continue;
      const DataType type = graph_.value(node.inputs[o]).type.type;
      const double most = periodic ? 0x1p28 : type == DataType::kF64 ? 1e100 : 1e12;
      double up = 0, down = 0;  // sums of logarithms, for products
      for (int64_t i = 0; i < operands[o].size(); ++i) {
        const double x = std::abs(operands[o].GetDouble(i));
        if (std::isfinite(x) ? x > most : pads) return true;
        if (x > 0 && std::isfinite(x)) (x > 1 ? up : down) += std::abs(std::log2(x));
      }
      const double range = type == DataType::kF64 ? 1000 : type == DataType::kF16 ? 14 : 120;
      const bool multiplies = node.op == Op::kReduceProd ||
                              (node.op == Op::kScatter && node.String("reduction") == "mul");
      if (multiplies && std::max(up, down) > range) return true;
    }
    return false;
  }

  // Fills the array with one arbitrary value, or with independent ones. With independent values,
  // later operators may combine different kinds of values.
  void FillAny(Array& array) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kAny[] = {
        std::numeric_limits<double>::quiet_NaN(), 0, 1, -1, kInfinity, -kInfinity};
    const auto any = [&] { return kAny[random_.Below(std::size(kAny))]; };
    const double all = any();
    const bool alike = random_.Below(2) == 0;
    for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, alike ? all : any());
  }

  // Returns the relative rounding error of the type. If one kernel computes all nodes, this is the
  // error of f32 for 16-bit floats.
  double UnitFor(DataType type) const {
    return in_one_kernel_ && SizeOf(type) == 2 ? RoundingOf(DataType::kF32) : RoundingOf(type);
  }

  double Noise() { return strength_ * (2 * static_cast<double>(random_.Unit()) - 1); }

  // Returns true if passes may fold a later scale, perhaps after an addition, into factors of the
  // products. Folded factors are rounded.
  bool IsScaledLater(const Node& node) const {
    if (PatternOf(node.op) != OpPattern::kContraction) return false;
    return std::ranges::any_of(users_[node.outputs[0]], [&](NodeId user) {
      switch (graph_.node(user).op) {
        case Op::kBatchNorm:
        case Op::kMul:
        case Op::kDiv:
        case Op::kAdd:
        case Op::kSub:
          return true;
        default:
          return false;
      }
    });
  }

  // Returns true for most discontinuous operators. Rounded operands may be exactly at a step, where
  // unrounded operands rarely are.
  static bool IsDiscontinuous(const Node& node, DataType result) {
    switch (node.op) {
      case Op::kFloor:
      case Op::kCeil:
      case Op::kRound:
      case Op::kSign:
      case Op::kMod:
      case Op::kPow:
        return true;
      default:
        return !IsFloat(result);
    }
  }

  static Array Rounded(const Array& array, DataType type) {
    Array result(DataType::kF64, array.shape());
    for (int64_t i = 0; i < array.size(); ++i)
      result.SetDouble(i, RoundTo(array.GetDouble(i), type));
    return result;
  }

  // Rounds some 16-bit operands. A stored value is rounded, but users in the same kernel may read
  // the unrounded value.
  void RoundSome(std::vector<Array>& operands, const Node& node) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!IsFloat(operands[i].type())) continue;
      const DataType type = graph_.value(node.inputs[i]).type.type;
      if (SizeOf(type) == 2 && random_.Below(4) == 0) operands[i] = Rounded(operands[i], type);
    }
  }

  // Rounds exponents that are almost whole numbers. Rounding errors may also make exponents whole.
  // Negative finite bases have powers for whole exponents only.
  static Array Whole(const Array& exponents, DataType type) {
    Array result(DataType::kF64, exponents.shape());
    for (int64_t i = 0; i < exponents.size(); ++i) {
      const double x = exponents.GetDouble(i), whole = std::round(x);
      const bool near = std::abs(x - whole) <= 64 * RoundingOf(type) * std::abs(x);
      result.SetDouble(i, near ? whole : x);
    }
    return result;
  }

  // Sets float elements of `left` to almost equal elements of `right`, if the shapes are equal.
  // Random errors alone rarely make two elements equal.
  static void Meet(Array& left, const Array& right, DataType type) {
    if (!IsFloat(type) || left.shape() != right.shape()) return;
    Array met(DataType::kF64, left.shape());
    for (int64_t i = 0; i < left.size(); ++i) {
      const double x = left.GetDouble(i), y = right.GetDouble(i);
      met.SetDouble(i, std::abs(x - y) <= 64 * RoundingOf(type) * std::abs(y) ? y : x);
    }
    left = std::move(met);
  }

  // Returns the operand with random relative errors of its elements, as if products were rounded.
  Array Disturbed(const Array& array, DataType type) {
    Array result(DataType::kF64, array.shape());
    for (int64_t i = 0; i < array.size(); ++i) {
      const double x = array.GetDouble(i);
      result.SetDouble(i, x * (1 + 2 * UnitFor(type) * Noise()));
    }
    return result;
  }

  void Round(Array& result, DataType type, Freedom freedom, bool exact,
             std::span<const Array> operands, const Node& node) {
    const bool rounds =
        node.op == Op::kCast ||
        (strength_ > 0 && UnitFor(type) == RoundingOf(type) && random_.Below(2) == 0);
    const Centring centring = CentringOf(node, operands);
    const double largest =
        freedom == Freedom::kSum && !exact ? LargestTerm(node, operands, result) : 0;
    const bool overflows = MayOverflow(node.op) && AreFinite(operands);
    for (int64_t i = 0; i < result.size(); ++i) {
      double y = result.GetDouble(i);
      if (y == 0 && freedom != Freedom::kNone && freedom != Freedom::kArithmetic &&
          random_.Below(2) == 0)
        y = -y;
      if (std::isfinite(y) && strength_ > 0) {
        double noise = NoiseOf(y, i, freedom, exact, largest, type, operands, node, result.size());
        if (centring.size > 0)
          noise += 4 * UnitFor(type) * Noise() *
                   centring.of_rows[static_cast<size_t>(i / centring.size)];
        if (noise != 0) y += noise;
        if (y == 0 && noise != 0 && random_.Below(2) == 0) y = -y;
      } else if (std::isinf(y) && overflows && random_.Below(2) == 0) {
        y = std::copysign(LargestOf(type), y);
      }
      result.SetDouble(i, rounds ? RoundTo(y, type) : y);
    }
  }

  // Returns noise to add to a finite result. `largest` estimates an inexact sum's largest term.
  double NoiseOf(double y, int64_t i, Freedom freedom, bool exact, double largest, DataType type,
                 std::span<const Array> operands, const Node& node, int64_t size) {
    const double unit = UnitFor(type);
    const bool composed = freedom == Freedom::kFunction || (freedom == Freedom::kSum && !exact);
    if (composed && std::abs(y) < UnderflowOf(node.op, type) && random_.Below(2) == 0) return -y;
    // The instruction that rounds to bfloat16 flushes subnormal numbers to zero.
    const bool flushes = type == DataType::kBF16 && freedom != Freedom::kNone;
    if (flushes && std::abs(y) < 0x1p-126 && random_.Below(2) == 0) return -y;
    switch (freedom) {
      case Freedom::kArithmetic:
        return IsRepresentable(y, type) ? 0 : 2 * unit * Noise() * std::abs(y);
      case Freedom::kFunction: {
        // Next to a pole, the result may be any large number of either sign.
        if (node.op == Op::kTan && std::abs(y) * unit > 0.005)
          return random_.Below(2) == 0 ? LargestOf(type) : -LargestOf(type);
        if (y == 0 || (std::abs(y) == 1 && IsSimple(operands, i, size))) return 0;
        const double inner = 12 * unit * InnerScale(node.op, operands, i, size);
        return OrNothing(y, Noise() * std::max(12 * unit * std::abs(y), inner), inner);
      }
      case Freedom::kSum: {
        if (exact) return 0;
        // All roundings of a running sum may have the same sign.
        const double terms = TermsOf(operands, size) + LogarithmOf(node.op, y, i, operands) +
                             ExponentOf(node.op, operands) + UpdatesOf(node, operands);
        const bool composite = PatternOf(node.op) == OpPattern::kComposite;
        const bool mixes = node.op == Op::kResize || node.op == Op::kRotaryEmbedding || Adds(node);
        const double scale = composite || mixes ? largest : 0;
        return OrNothing(y, terms * unit * Noise() * std::max(std::abs(y), scale),
                         4 * unit * largest);
      }
      default:
        return 0;
    }
  }

  // Returns an estimate of the largest magnitude of a sum's terms. For most operators, this is the
  // largest magnitude of finite results.
  static double LargestTerm(const Node& node, std::span<const Array> operands,
                            const Array& result) {
    if (PatternOf(node.op) == OpPattern::kReduction) return LargestFinite(operands[0]);
    if (Adds(node)) return std::max(LargestFinite(operands[0]), LargestFinite(operands[2]));
    if (node.op != Op::kRotaryEmbedding) return LargestFinite(result);
    return LargestFinite(operands[0]) *
           std::max(LargestFinite(operands[1]), LargestFinite(operands[2]));
  }

  static double LargestFinite(const Array& array) {
    double largest = 0;
    for (int64_t i = 0; i < array.size(); ++i)
      if (std::isfinite(array.GetDouble(i)))
        largest = std::max(largest, std::abs(array.GetDouble(i)));
    return largest;
  }

  // Returns the error factor of the power in kLrn: the magnitude of the power's logarithm. The
  // power is the quotient of operand and result. Returns 0 if the power is 0 or not finite, and for
  // other operators.
  static double LogarithmOf(Op op, double y, int64_t i, std::span<const Array> operands) {
    const double power = op == Op::kLrn ? std::abs(operands[0].GetDouble(i) / y) : 1;
    return power > 0 && std::isfinite(power) ? std::abs(std::log(power)) : 0;
  }

  // Returns the error factor of a float mask in kAttention, else 0. Mask values are added to
  // exponents, whose rounding errors are in proportion to them. The greatest finite mask value
  // counts, because exponentials of smaller values are smaller.
  static double ExponentOf(Op op, std::span<const Array> operands) {
    if (op != Op::kAttention || operands.size() < 4 || !IsFloat(operands[3].type())) return 0;
    double greatest = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < operands[3].size(); ++i)
      if (std::isfinite(operands[3].GetDouble(i)))
        greatest = std::max(greatest, operands[3].GetDouble(i));
    return std::isfinite(greatest) ? std::abs(greatest) : 0;
  }

  static double TermsOf(std::span<const Array> operands, int64_t results) {
    const int64_t operand = operands.empty() ? 0 : operands[0].size();
    return std::max(4.0, static_cast<double>(operand) / static_cast<double>(results));
  }

  static bool Adds(const Node& node) {
    return node.op == Op::kScatter && node.String("reduction") == "add";
  }
  // Returns the number of updates that a scatter may combine in one element, else 0.
  static double UpdatesOf(const Node& node, std::span<const Array> operands) {
    if (node.op != Op::kScatter) return 0;
    return static_cast<double>(operands[2].shape()[static_cast<size_t>(node.Int("axis"))]);
  }

  // Returns `noise`, or half of the time -y if the magnitude of y is below `rounding`. A rounding
  // error of the terms may make such a result 0.
  double OrNothing(double y, double noise, double rounding) {
    return std::abs(y) < rounding && random_.Below(2) == 0 ? -y : noise;
  }

  // Returns true if element i of each operand is 0, 1, -1 or not finite. A result of 1 or -1 is
  // then exact. Operands from the first one of another size on are not tested.
  static bool IsSimple(std::span<const Array> operands, int64_t i, int64_t size) {
    for (const Array& operand : operands) {
      if (operand.size() != size) return true;
      const double x = operand.GetDouble(i);
      if (x != 0 && std::abs(x) != 1 && std::isfinite(x)) return false;
    }
    return true;
  }

  // Returns false for some operators that have a pole. Without a pole, an infinite result of finite
  // operands is an overflow, which another formula of the operator might avoid.
  static bool MayOverflow(Op op) {
    switch (op) {
      case Op::kDiv:
      case Op::kReciprocal:
      case Op::kRsqrt:
      case Op::kLog:
      case Op::kAtanh:
      case Op::kPow:
      case Op::kTan:
        return false;
      default:
        return true;
    }
  }

  static bool AreFinite(std::span<const Array> operands) {
    for (const Array& operand : operands)
      for (int64_t i = 0; i < operand.size() && IsFloat(operand.type()); ++i)
        if (!std::isfinite(operand.GetDouble(i))) return false;
    return true;
  }

  // Returns true if a result of the type is probably exact. A result of f64 must be representable
  // in f32, because other results were probably rounded.
  static bool IsRepresentable(double y, DataType type) {
    return RoundTo(y, type == DataType::kF64 ? DataType::kF32 : type) == y;
  }

  // Returns an estimate of the magnitude of numbers that a function adds or subtracts. The result
  // may be much smaller. Gelu and Mish multiply their operand by a difference from 1.
  static double InnerScale(Op op, std::span<const Array> operands, int64_t i, int64_t size) {
    switch (op) {
      case Op::kGelu:
      case Op::kMish:
        return std::max(1.0, LargestAt(operands, i, size));
      case Op::kElu:
      case Op::kSelu:
      case Op::kCelu:
      case Op::kHardSigmoid:
      case Op::kHardSwish:
      case Op::kSinh:
      case Op::kAsinh:
      case Op::kAtanh:
      case Op::kSoftplus:
        return 1;
      default:
        return std::min(1.0, LargestAt(operands, i, size));
    }
  }

  static double LargestAt(std::span<const Array> operands, int64_t i, int64_t size) {
    double largest = 0;
    for (const Array& operand : operands)
      if (IsFloat(operand.type()))
        largest = std::max(largest, operand.size() == size ? std::abs(operand.GetDouble(i)) : 1.0);
    return largest;
  }

  const Graph& graph_;
  ValueUsers users_;
  Random random_;
  double strength_;
  bool in_one_kernel_;
};

/// The range of the expected result and the samples of one element. A finite result may be outside
/// by half of the range's length plus the tolerances of `Allows`. NaN and infinities are recorded
/// separately.
class Among {
 public:
  explicit Among(double expected) { Add(expected); }
  void Add(double sample) {
    if (std::isnan(sample)) {
      nan_ = true;
    } else if (std::isinf(sample)) {
      (sample > 0 ? plus_ : minus_) = true;
    } else {
      low_ = std::min(low_, sample);
      high_ = std::max(high_, sample);
    }
  }
  bool Allows(double actual, double relative, double least) const {
    // If the samples differ in kind (finite, NaN, inf or -inf), every result is accepted.
    if (nan_ + plus_ + minus_ + (low_ <= high_) > 1) return true;
    if (std::isnan(actual)) return nan_;
    if (std::isinf(actual)) return actual > 0 ? plus_ : minus_;
    if (low_ > high_) return false;
    const double margin =
        (high_ - low_) / 2 + relative * std::max(std::abs(low_), std::abs(high_)) + least;
    return actual >= low_ - margin && actual <= high_ + margin;
  }

 private:
  bool nan_ = false, plus_ = false, minus_ = false;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

bool SameOrClose(double actual, double expected, double relative) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return true;
  return std::isfinite(expected) && std::abs(actual - expected) <= relative * std::abs(expected);
}

double SmallestOf(DataType type) { return type == DataType::kF16 ? 0x1p-24 : 0x1p-133; }

}  // namespace

double CloseEnough(DataType type) { return 4 * RoundingOf(type); }

OutputChecker::OutputChecker(const Graph& graph, std::span<const Array> inputs,
                             std::vector<Array> expected)
    : graph_(graph), inputs_(inputs.begin(), inputs.end()), expected_(std::move(expected)) {}

std::string OutputChecker::Check(std::span<const Array> outputs) {
  if (outputs.size() != expected_.size())
    return fmt::format("{} outputs, expected {}", outputs.size(), expected_.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (std::string problem = CheckOutput(i, outputs[i]); !problem.empty()) return problem;
  return "";
}

void OutputChecker::DrawSamples(size_t count) {
  while (samples_.size() < count) {
    // Most later samples have more noise, because a threshold may be more than one unit away.
    const bool exact = samples_.size() % kExactEvery == kExactEvery - 1;
    const double strength = exact ? 0 : samples_.size() < kFirstSamples ? 1 : 4;
    auto sample = Sample(graph_, next_seed_++, strength).Run(inputs_);
    samples_.push_back(sample ? *std::move(sample) : expected_);
  }
}

std::string OutputChecker::CheckOutput(size_t output, const Array& actual) {
  const Array& expected = expected_[output];
  const std::string& name = graph_.output_names()[output];
  if (actual.shape() != expected.shape() || actual.type() != expected.type())
    return fmt::format("output {} has another type or shape", name);
  const bool is_float = IsFloat(expected.type());
  const double relative = is_float ? CloseEnough(expected.type()) : 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (is_float ? SameOrClose(actual.GetDouble(i), expected.GetDouble(i), relative)
                 : actual.GetInt(i) == expected.GetInt(i))
      continue;
    bool allowed = false;
    for (const size_t count : {kFirstSamples, kMostSamples}) {
      DrawSamples(count);
      if (is_float) {
        Among among(expected.GetDouble(i));
        for (const auto& sample : samples_) among.Add(sample[output].GetDouble(i));
        allowed = among.Allows(actual.GetDouble(i), relative, 4 * SmallestOf(expected.type()));
      } else {
        for (const auto& sample : samples_)
          allowed |= sample[output].GetInt(i) != expected.GetInt(i);
      }
      if (allowed) break;
    }
    if (!allowed && is_float)
      return fmt::format("output {}[{}] is {}, expected {}", name, i, actual.GetDouble(i),
                         expected.GetDouble(i));
    if (!allowed)
      return fmt::format("output {}[{}] is {}, expected {}", name, i, actual.GetInt(i),
                         expected.GetInt(i));
  }
  return "";
}

}  // namespace tunec::fuzz
