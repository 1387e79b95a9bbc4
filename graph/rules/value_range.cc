#include "graph/rules/value_range.h"

#include <algorithm>
#include <cmath>

#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDeepest = 8;
// Constants above this are not looked through.
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

ValueRange Sum(const ValueRange& a, const ValueRange& b) {
  return {a.low + b.low, a.high + b.high, a.nan || b.nan || !a.IsFinite() || !b.IsFinite(),
          a.negative_zero && b.negative_zero};
}

ValueRange Negative(const ValueRange& a) { return {-a.high, -a.low, a.nan, true}; }

ValueRange Product(const ValueRange& a, const ValueRange& b) {
  if (!a.IsFinite() || !b.IsFinite()) return {};
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  const bool negative = a.low < 0 || b.low < 0 || a.negative_zero || b.negative_zero;
  return {low, high, false, negative};
}

class RangeFinder {
 public:
  explicit RangeFinder(const MatchSite& site) : site_(site) {}

  ValueRange Find(ValueId value, int depth) const {
    const DataType type = site_.TypeOf(value).type;
    if (const Array* constant = site_.ConstantOf(value)) return RangeOfConstant(*constant);
    if (depth == kDeepest || !IsFloat(type)) return RangeOfType(type);
    const NodeView node = site_.NodeOf(value);
    if (node.inputs.empty() || !node.inputs[0].valid()) return {};
    ValueRange range = OfNode(node, depth + 1);
    // Rounding keeps the order, so what is rounded lies within the rounded bounds.
    range.low = RoundTo(range.low, type);
    range.high = RoundTo(range.high, type);
    return range;
  }

 private:
  ValueRange OfNode(const NodeView& node, int depth) const {
    const ValueRange x = Find(node.inputs[0], depth);
    if (node.inputs.size() == 2 && node.inputs[1].valid())
      return OfBinary(node.op, x, node.inputs[1], depth);
    switch (node.op) {
      case Op::kIdentity:
      case Op::kReshape:
      case Op::kTranspose:
      case Op::kExpand:
      case Op::kSlice:
      case Op::kTile:
        return x;
      case Op::kReduceMax:
      case Op::kReduceMin:
        return HasElements(node.inputs[0]) ? x : ValueRange();
      case Op::kCast:
        return OfCast(x);
      case Op::kRelu:
        return {std::max(x.low, 0.0), std::max(x.high, 0.0), x.nan, x.negative_zero};
      case Op::kAbs: {
        const double most = std::max(std::abs(x.low), std::abs(x.high));
        return {x.ContainsZero() ? 0 : std::min(std::abs(x.low), std::abs(x.high)), most, x.nan,
                false};
      }
      case Op::kNeg:
        return Negative(x);
      case Op::kExp:
        return {std::exp(x.low) * (1 - 1e-6), std::exp(x.high) * (1 + 1e-6), x.nan, false};
      case Op::kSqrt:
        return {std::sqrt(std::max(x.low, 0.0)) * (1 - 1e-6),
                std::sqrt(std::max(x.high, 0.0)) * (1 + 1e-6), x.nan || x.low < 0, x.negative_zero};
      case Op::kSigmoid:
      case Op::kHardSigmoid:
        return {0, 1, x.nan, false};
      case Op::kSoftmax:
        return {0, 1, x.nan || !x.IsFinite(), false};
      case Op::kTanh:
      case Op::kErf:
        return {-1, 1, x.nan, true};
      case Op::kSin:
      case Op::kCos:
        return {-1, 1, x.nan || !x.IsFinite(), true};
      case Op::kClip:
        return OfClip(*node.attributes, x);
      default:
        return {};
    }
  }

  ValueRange OfBinary(Op op, const ValueRange& x, ValueId second, int depth) const {
    switch (op) {
      case Op::kAdd:
        return Sum(x, Find(second, depth));
      case Op::kSub:
        return Sum(x, Negative(Find(second, depth)));
      case Op::kMul:
        return Product(x, Find(second, depth));
      case Op::kMin:
      case Op::kMax: {
        const ValueRange y = Find(second, depth);
        ValueRange range = Union(x, y);
        if (op == Op::kMin) range.high = std::min(x.high, y.high);
        if (op == Op::kMax) range.low = std::max(x.low, y.low);
        return range;
      }
      case Op::kGather:
        return x;
      default:
        return {};
    }
  }

  // The extreme of nothing is infinite.
  bool HasElements(ValueId value) const {
    const ValueType& type = site_.TypeOf(value);
    return type.IsFixed() && ElementCount(type.Shape()) > 0;
  }

  static ValueRange OfCast(const ValueRange& x) {
    // The bounds may round outwards, by one unit of the coarsest type.
    constexpr double kSlack = 0x1p-7;
    return {x.low - std::abs(x.low) * kSlack, x.high + std::abs(x.high) * kSlack, x.nan,
            x.negative_zero};
  }

  static ValueRange OfClip(const Attributes& attributes, const ValueRange& x) {
    const auto bound = [&](std::string_view name, double absent) {
      const auto found = attributes.find(name);
      if (found == attributes.end()) return absent;
      const auto* value = std::get_if<double>(&found->second);
      return value == nullptr ? absent : *value;
    };
    const double low = bound("min", -kInfinity);
    const double high = bound("max", kInfinity);
    return {std::clamp(x.low, low, std::max(low, high)),
            std::clamp(x.high, low, std::max(low, high)), x.nan, true};
  }

  const MatchSite& site_;
};

}  // namespace

bool ValueRange::IsFinite() const { return !nan && std::isfinite(low) && std::isfinite(high); }

ValueRange RangeOf(const MatchSite& site, ValueId value) {
  return RangeFinder(site).Find(value, 0);
}

}  // namespace tunec
