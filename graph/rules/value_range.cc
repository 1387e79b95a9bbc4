#include "graph/rules/value_range.h"

#include <algorithm>
#include <cmath>

#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// The maximum number of range rules that a call of RangeOf applies. The number of paths through
// operators with several operands grows exponentially.
constexpr int kMostVisited = 4096;
// The maximum number of elements of a constant that is examined. A larger constant has the range of
// its type.
constexpr int64_t kMostElements = int64_t{1} << 16;

ValueRange Between(double low, double high) { return {low, high, false, false}; }

ValueRange RangeOfType(DataType type) {
  if (IsFloat(type)) return {};
  if (type == DataType::kBool) return Between(0, 1);
  const int bits = static_cast<int>(SizeOf(type)) * 8;
  if (!IsSigned(type)) return Between(0, std::ldexp(1.0, bits) - 1);
  return Between(-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1);
}

ValueRange RangeOfConstant(const Array& array) {
  if (array.size() == 0 || array.size() > kMostElements) return RangeOfType(array.type());
  ValueRange range = Between(kInfinity, -kInfinity);
  for (int64_t i = 0; i < array.size(); ++i) {
    const double element = array.GetDouble(i);
    range.nan |= std::isnan(element);
    range.negative_zero |= element == 0 && std::signbit(element);
    range.low = std::min(range.low, element);
    range.high = std::max(range.high, element);
  }
  return range.low <= range.high ? range : ValueRange();
}

ValueRange Union(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.nan || b.nan,
          a.negative_zero || b.negative_zero};
}

ValueRange SumOf(const ValueRange& a, const ValueRange& b) {
  return {a.low + b.low, a.high + b.high, a.nan || b.nan || !a.IsFinite() || !b.IsFinite(),
          a.negative_zero && b.negative_zero};
}

ValueRange NegativeOf(const ValueRange& a) { return {-a.high, -a.low, a.nan, true}; }

ValueRange ProductOf(const ValueRange& a, const ValueRange& b) {
  if (!a.IsFinite() || !b.IsFinite()) return {};
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  const bool negative = a.low < 0 || b.low < 0 || a.negative_zero || b.negative_zero;
  return {low, high, false, negative};
}

// Returns the range of an integer or bool result. Arithmetic that leaves the type wraps around, so
// the result may be any value of the type. The same is assumed for NaN, and for magnitudes above
// 2^53, where doubles omit some integers.
ValueRange Unwrapped(const ValueRange& range, DataType type) {
  constexpr double kExact = 0x1p53;
  const ValueRange whole = RangeOfType(type);
  const bool fits = !range.nan && range.low >= std::max(whole.low, -kExact) &&
                    range.high <= std::min(whole.high, kExact);
  return fits ? Between(std::floor(range.low), std::ceil(range.high)) : whole;
}

class RangeFinder {
 public:
  RangeFinder(const MatchSite& site, int deepest) : site_(site), deepest_(deepest) {}

  ValueRange Find(ValueId value, int depth) const;
  const MatchSite& site() const { return site_; }

 private:
  const MatchSite& site_;
  int deepest_;
  mutable int visited_ = 0;
};

// A node whose range is computed, with access to the ranges of its operands.
class RangeQuestion {
 public:
  RangeQuestion(const RangeFinder& finder, ValueId value, const NodeView& node, int depth)
      : finder_(finder), value_(value), node_(node), depth_(depth) {}

  const ValueType& type() const { return finder_.site().TypeOf(value_); }
  const ValueType& OperandType(size_t i) const { return finder_.site().TypeOf(node_.inputs[i]); }
  size_t operands() const { return node_.inputs.size(); }
  /// Returns the range of an operand, or all values if it is omitted.
  ValueRange Operand(size_t i) const {
    if (i >= node_.inputs.size() || !node_.inputs[i].valid()) return {};
    return finder_.Find(node_.inputs[i], depth_);
  }

  int64_t Int(std::string_view name) const { return Attribute<int64_t>(name, 0); }
  double Float(std::string_view name, double absent) const { return Attribute(name, absent); }

 private:
  template <class T>
  T Attribute(std::string_view name, T absent) const {
    const auto found = node_.attributes->find(name);
    const T* value = found == node_.attributes->end() ? nullptr : std::get_if<T>(&found->second);
    return value == nullptr ? absent : *value;
  }

  const RangeFinder& finder_;
  ValueId value_;
  const NodeView& node_;
  int depth_;
};

using Q = const RangeQuestion&;

// The functions in the column `range` of op_list.h. Each returns a range of a node's results, for
// which Find then handles rounding and wraparound.
ValueRange Any(Q) { return {}; }
ValueRange First(Q q) { return q.Operand(0); }
ValueRange Negative(Q q) { return NegativeOf(q.Operand(0)); }
ValueRange Sum(Q q) { return SumOf(q.Operand(0), q.Operand(1)); }
ValueRange Difference(Q q) { return SumOf(q.Operand(0), NegativeOf(q.Operand(1))); }
ValueRange Product(Q q) { return ProductOf(q.Operand(0), q.Operand(1)); }

ValueRange Least(Q q) {
  const ValueRange x = q.Operand(0);
  const ValueRange y = q.Operand(1);
  ValueRange range = Union(x, y);
  range.high = std::min(x.high, y.high);
  return range;
}

ValueRange Greatest(Q q) {
  const ValueRange x = q.Operand(0);
  const ValueRange y = q.Operand(1);
  ValueRange range = Union(x, y);
  range.low = std::max(x.low, y.low);
  return range;
}

// Returns the operand's range, or all values if the operand may have no elements. The extreme of no
// elements is infinite, or a limit of the integer type.
ValueRange Extreme(Q q) {
  const ValueType& type = q.OperandType(0);
  return type.IsFixed() && type.Elements() > 0 ? q.Operand(0) : ValueRange();
}

ValueRange Relu(Q q) {
  const ValueRange x = q.Operand(0);
  return {std::max(x.low, 0.0), std::max(x.high, 0.0), x.nan, x.negative_zero};
}

ValueRange Abs(Q q) {
  const ValueRange x = q.Operand(0);
  const double most = std::max(std::abs(x.low), std::abs(x.high));
  const double least = x.ContainsZero() ? 0 : std::min(std::abs(x.low), std::abs(x.high));
  return {least, most, x.nan, false};
}

ValueRange Exp(Q q) {
  const ValueRange x = q.Operand(0);
  return {std::exp(x.low) * (1 - 1e-6), std::exp(x.high) * (1 + 1e-6), x.nan, false};
}

ValueRange Sqrt(Q q) {
  const ValueRange x = q.Operand(0);
  return {std::sqrt(std::max(x.low, 0.0)) * (1 - 1e-6),
          std::sqrt(std::max(x.high, 0.0)) * (1 + 1e-6), x.nan || x.low < 0, x.negative_zero};
}

// Returns the range [0, 1]. The result may be NaN if the operand may be NaN, if alpha is 0
// (0 * infinity), or if alpha or beta is not finite.
ValueRange Unit(Q q) {
  const double alpha = q.Float("alpha", 1);
  const bool is_usual = alpha != 0 && std::isfinite(alpha) && std::isfinite(q.Float("beta", 0));
  return {0, 1, q.Operand(0).nan || !is_usual, false};
}

ValueRange Softmax(Q q) {
  const ValueRange x = q.Operand(0);
  return {0, 1, x.nan || !x.IsFinite(), false};
}

ValueRange Symmetric(Q q) { return {-1, 1, q.Operand(0).nan, true}; }

ValueRange Wave(Q q) {
  const ValueRange x = q.Operand(0);
  return {-1, 1, x.nan || !x.IsFinite(), true};
}

ValueRange Clip(Q q) {
  const ValueRange x = q.Operand(0);
  const double low = q.Float("min", -kInfinity);
  const double high = q.Float("max", kInfinity);
  if (std::isnan(low) || std::isnan(high)) return {};
  // If the bounds cross, every element except NaN gets the upper bound.
  const auto clipped = [&](double bound) { return std::min(std::max(bound, low), high); };
  return {clipped(x.low), clipped(x.high), x.nan, true};
}

// Returns the range of an integer remainder by a positive divisor, and all values otherwise. The
// sign is the divisor's, or the dividend's for `fmod`.
ValueRange Remainder(Q q) {
  if (IsFloat(q.OperandType(0).type)) return {};
  const ValueRange dividend = q.Operand(0);
  const ValueRange divisor = q.Operand(1);
  if (!(divisor.low > 0) || dividend.nan) return {};
  const double most = divisor.high - 1;
  return Between(q.Int("fmod") != 0 && dividend.low < 0 ? -most : 0, most);
}

// Returns the range of results whose elements are elements of the operands from `first` on.
ValueRange PartsFrom(Q q, size_t first) {
  ValueRange range = q.Operand(first);
  for (size_t i = first + 1; i < q.operands(); ++i) range = Union(range, q.Operand(i));
  return range;
}

ValueRange Parts(Q q) { return PartsFrom(q, 0); }
ValueRange Branches(Q q) { return PartsFrom(q, 1); }  // operands after the condition

ValueRange Positions(Q q) {
  const Dim& dim = q.OperandType(0).dims[static_cast<size_t>(q.Int("axis"))];
  return dim.IsConstant() ? Between(0, static_cast<double>(dim.Value() - 1)) : ValueRange();
}

ValueRange Steps(Q q) {
  const auto [low, high] = std::minmax({q.Float("start", -kInfinity), q.Float("limit", kInfinity)});
  return {low, high, false, IsFloat(q.type().type)};
}

// Widens the range by the relative precision of bfloat16, because a cast may round the bounds.
ValueRange Rounded(const ValueRange& x) {
  constexpr double kSlack = 0x1p-7;
  return {x.low - std::abs(x.low) * kSlack, x.high + std::abs(x.high) * kSlack, x.nan,
          x.negative_zero};
}

ValueRange Cast(Q q) {
  const DataType to = q.type().type;
  ValueRange x = q.Operand(0);
  if (IsFloat(to)) return Rounded(x);
  if (to == DataType::kBool) return RangeOfType(to);
  if (!IsFloat(q.OperandType(0).type)) return x;  // Unwrapped checks whether the range fits
  // A cast of a number that does not fit may give any value of the type.
  const ValueRange whole = RangeOfType(to);
  if (std::trunc(x.low) < whole.low || std::trunc(x.high) > whole.high) return whole;
  const ValueRange range = Between(std::trunc(x.low), std::trunc(x.high));
  const double of_nan = IntToDouble(CastToInt(kNan, to), to);
  return x.nan ? Union(range, Between(of_nan, of_nan)) : range;
}

struct RangeRule {
  constexpr RangeRule(ValueRange (*rule)(Q)) : find(rule) {}  // NOLINT: functions are rules

  ValueRange (*find)(Q);
  bool chooses = false;
};

// Marks a rule whose results are elements of the operands, or 0 (relu). So an integer result does
// not wrap around.
constexpr RangeRule Chosen(RangeRule rule) {
  rule.chooses = true;
  return rule;
}

constexpr RangeRule kRules[] = {
#define TUNEC_RANGE(id, name, kind, pattern, operands, cost, repeats, rows, images, range, ...) \
  range,
    TUNEC_OPS(TUNEC_RANGE)
#undef TUNEC_RANGE
};

ValueRange RangeFinder::Find(ValueId value, int depth) const {
  const DataType type = site_.TypeOf(value).type;
  if (const Array* constant = site_.ConstantOf(value)) return RangeOfConstant(*constant);
  if (depth == deepest_ || ++visited_ > kMostVisited) return RangeOfType(type);
  const NodeView node = site_.NodeOf(value);
  const RangeRule& rule = kRules[static_cast<size_t>(node.op)];
  ValueRange range = rule.find(RangeQuestion(*this, value, node, depth + 1));
  // Bounds may be NaN or unordered, for example for a sum of infinities of both signs.
  if (!(range.low <= range.high)) range = RangeOfType(type);
  if (!IsFloat(type)) return rule.chooses && !range.nan ? range : Unwrapped(range, type);
  // Rounding is monotonic, so rounded values are within the rounded bounds.
  range.low = RoundTo(range.low, type);
  range.high = RoundTo(range.high, type);
  return range;
}

}  // namespace

bool ValueRange::IsFinite() const { return !nan && std::isfinite(low) && std::isfinite(high); }

ValueRange RangeOf(const MatchSite& site, ValueId value, int deepest) {
  return RangeFinder(site, deepest).Find(value, 0);
}

}  // namespace tunec
