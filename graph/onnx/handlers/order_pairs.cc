#include "graph/onnx/handlers/order_pairs.h"

#include <cmath>

namespace tunec::onnx_import {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DataType ComparedType(DataType type) {
  if (IsFloat(type)) return type == DataType::kF64 ? type : DataType::kF32;
  return SizeOf(type) < sizeof(int32_t) ? DataType::kI32 : type;
}

// Returns the infinity that replaces NaN in comparisons of numbers.
double NumberOfNan(NanOrder nan) { return nan == NanOrder::kFirst ? kInfinity : -kInfinity; }

}  // namespace

Formula Not(const Formula& x) { return Apply(Op::kNot, {x}); }

Comparable ComparableOf(const Formula& x, bool largest) {
  const Formula value = x.Cast(ComparedType(x.type()));
  if (!IsFloat(x.type())) return {largest ? value : Not(value)};
  return {largest ? value : -value, largest ? NanOrder::kFirst : NanOrder::kLast};
}

double LastNumber(DataType type) {
  if (IsFloat(type)) return -kInfinity;
  return IsSigned(type) ? -std::exp2(8.0 * static_cast<double>(SizeOf(type)) - 1) : 0;
}

double LastValue(const Comparable& x) {
  if (x.nan == NanOrder::kLast) return std::numeric_limits<double>::quiet_NaN();
  return LastNumber(x.values.type());
}

Formula IsNan(const Formula& x) { return Apply(Op::kIsNan, {x}); }

Formula Numbers(const Comparable& x) {
  if (x.nan == NanOrder::kNone) return x.values;
  return Where(IsNan(x.values), x.values.Number(NumberOfNan(x.nan)), x.values);
}

Pairs PairsOf(const Comparable& x, const Formula& positions) {
  if (x.nan == NanOrder::kNone) return {x.values, positions};
  const Formula& v = x.values;
  const Formula is_later = x.nan == NanOrder::kFirst ? Equal(v, v.Number(kInfinity)) : IsNan(v);
  const Formula later = positions + static_cast<double>(kLater);
  return {Numbers(x), Where(is_later, later, positions)};
}

Formula ClearLater(const Formula& positions) {
  return And(positions, positions.Number(static_cast<double>(kLater - 1)));
}

Formula Precedes(const Pairs& a, const Pairs& b) {
  const Formula earlier = And(Equal(a.values, b.values), Less(a.positions, b.positions));
  return Apply(Op::kOr, {Less(b.values, a.values), earlier});
}

Pairs Select(const Formula& condition, const Pairs& a, const Pairs& b) {
  return {Where(condition, a.values, b.values), Where(condition, a.positions, b.positions)};
}

Pairs Reshaped(const Pairs& pairs, const OperandShape& shape) {
  return Each(pairs, [&](const Formula& x) { return x.Reshape(shape); });
}

Pairs Reversed(const Pairs& pairs, const std::vector<size_t>& axes) {
  return Each(pairs, [&](const Formula& x) {
    if (!x.ok()) return x;
    std::vector<Dim> starts(x.shape().size(), 0);
    std::vector<Dim> ends = x.shape();
    std::vector<int64_t> steps(x.shape().size(), 1);
    for (const size_t axis : axes) {
      starts[axis] = ends[axis] - 1;
      ends[axis] = -1;
      steps[axis] = -1;
    }
    return Apply(Op::kSlice, {x},
                 {{"starts", SizesAttribute(std::move(starts))},
                  {"ends", SizesAttribute(std::move(ends))},
                  {"steps", steps}});
  });
}

Formula Padded(const Formula& x, size_t axis, int64_t by, double value) {
  if (by == 0 || !x.ok()) return x;
  std::vector<int64_t> pads(2 * x.shape().size(), 0);
  pads[x.shape().size() + axis] = by;
  return Apply(Op::kPad, {x}, {{"pads", pads}, {"value", value}});
}

Pairs Padded(const Pairs& pairs, int64_t by) {
  return {Padded(pairs.values, 1, by, LastNumber(pairs.values.type())),
          Padded(pairs.positions, 1, by, static_cast<double>(kLastPosition))};
}

}  // namespace tunec::onnx_import
