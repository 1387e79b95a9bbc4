#include "graph/rules/value_range.h"

#include <algorithm>
#include <cmath>

#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Operators of several operands each make very many ways: the rest is not looked at.
constexpr int kMostVisited = 4096;
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

// Integer arithmetic that leaves the type wraps around: then anything may come out. Beyond 2^53
// doubles do not tell integers apart.
ValueRange Unwrapped(const ValueRange& range, DataType type) {
  constexpr double kExact = 0x1p53;
  const ValueRange whole = RangeOfType(type);
  const bool fits = !range.nan && range.low >= std::max(whole.low, -kExact) &&
                    range.high <= std::min(whole.high, kExact);
  return fits ? Between(std::floor(range.low), std::ceil(range.high)) : whole;
}

// Operators whose results are some of their operands' elements, or a bound of theirs.
bool Chooses(Op op) {
  switch (op) {
    case Op::kIdentity:
    case Op::kReshape:
    case Op::kTranspose:
    case Op::kExpand:
    case Op::kSlice:
    case Op::kTile:
    case Op::kConcat:
    case Op::kGather:
    case Op::kGatherElements:
    case Op::kWhere:
    case Op::kMin:
    case Op::kMax:
    case Op::kReduceMin:
    case Op::kReduceMax:
    case Op::kRelu:
      return true;
    default:
      return false;
  }
}

// What is left by division, with the sign of the divisor, or of the dividend for `fmod`.
ValueRange Remainder(const ValueRange& dividend, const ValueRange& divisor, bool fmod) {
  if (!(divisor.low > 0) || dividend.nan) return {};
  const double most = divisor.high - 1;
  return Between(fmod && dividend.low < 0 ? -most : 0, most);
}

class RangeFinder {
 public:
  RangeFinder(const MatchSite& site, int deepest) : site_(site), deepest_(deepest) {}

  ValueRange Find(ValueId value, int depth) const {
    const DataType type = site_.TypeOf(value).type;
    if (const Array* constant = site_.ConstantOf(value)) return RangeOfConstant(*constant);
    if (depth == deepest_ || ++visited_ > kMostVisited) return RangeOfType(type);
    const NodeView node = site_.NodeOf(value);
    if (node.op == Op::kRange) return OfRange(*node.attributes, type);
    if (node.inputs.empty() || !node.inputs[0].valid()) return RangeOfType(type);
    ValueRange range =
        node.op == Op::kCast ? OfCast(node.inputs[0], type, depth + 1) : OfNode(node, depth + 1);
    if (!IsFloat(type)) return Chooses(node.op) && !range.nan ? range : Unwrapped(range, type);
    // Rounding keeps the order, so what is rounded lies within the rounded bounds.
    range.low = RoundTo(range.low, type);
    range.high = RoundTo(range.high, type);
    return range;
  }

 private:
  ValueRange OfNode(const NodeView& node, int depth) const {
    if (node.op == Op::kConcat || node.op == Op::kWhere) return OfParts(node, depth);
    if (node.op == Op::kArgMax || node.op == Op::kArgMin) return OfPlaces(node);
    const ValueRange x = Find(node.inputs[0], depth);
    if (node.op == Op::kMod && !IsFloat(site_.TypeOf(node.inputs[0]).type))
      return Remainder(x, Find(node.inputs[1], depth), IntOf(*node.attributes, "fmod") != 0);
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
      case Op::kGatherElements:
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

  // One of the operands' elements: all of them, but for where's condition.
  ValueRange OfParts(const NodeView& node, int depth) const {
    const size_t first = node.op == Op::kWhere ? 1 : 0;
    ValueRange range = Find(node.inputs[first], depth);
    for (size_t i = first + 1; i < node.inputs.size(); ++i)
      range = Union(range, Find(node.inputs[i], depth));
    return range;
  }

  static ValueRange OfRange(const Attributes& attributes, DataType type) {
    const auto bound = [&](std::string_view name) {
      return std::get<double>(attributes.find(name)->second);
    };
    const auto [low, high] = std::minmax(bound("start"), bound("limit"));
    if (IsFloat(type)) return {RoundTo(low, type), RoundTo(high, type), false, true};
    return Unwrapped({low, high, false, false}, type);
  }

  ValueRange OfPlaces(const NodeView& node) const {
    const Dim& dim =
        site_.TypeOf(node.inputs[0]).dims[static_cast<size_t>(IntOf(*node.attributes, "axis"))];
    return dim.IsFixed() ? Between(0, static_cast<double>(dim.size() - 1)) : ValueRange();
  }

  static int64_t IntOf(const Attributes& attributes, std::string_view name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? 0 : std::get<int64_t>(found->second);
  }

  ValueRange OfCast(ValueId from, DataType to, int depth) const {
    const ValueRange x = Find(from, depth);
    if (IsFloat(to)) return Rounded(x);
    if (to == DataType::kBool) return RangeOfType(to);
    if (!IsFloat(site_.TypeOf(from).type)) return x;  // Unwrapped says whether it fits
    // Truncated and saturated; a NaN becomes 0.
    const ValueRange whole = RangeOfType(to);
    const auto saturated = [&](double bound) {
      return std::trunc(std::clamp(bound, whole.low, whole.high));
    };
    const ValueRange range = Between(saturated(x.low), saturated(x.high));
    return x.nan ? Union(range, Between(0, 0)) : range;
  }

  static ValueRange Rounded(const ValueRange& x) {
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
  int deepest_;
  mutable int visited_ = 0;
};

}  // namespace

bool ValueRange::IsFinite() const { return !nan && std::isfinite(low) && std::isfinite(high); }

ValueRange RangeOf(const MatchSite& site, ValueId value, int deepest) {
  return RangeFinder(site, deepest).Find(value, 0);
}

}  // namespace tunec
