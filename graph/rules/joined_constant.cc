#include "graph/rules/joined_constant.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/reference.h"
#include "graph/reference/run.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

double LeastNormal(DataType type) {
  switch (type) {
    case DataType::kF16:
      return 0x1p-14;
    case DataType::kF64:
      return std::numeric_limits<double>::min();
    default:
      return std::numeric_limits<float>::min();
  }
}

struct Extremes {
  double least = std::numeric_limits<double>::infinity();  // smallest magnitude
  bool finite = true;
};

template <class Get>
Extremes ExtremesOf(int64_t count, Get get) {
  Extremes found;
  for (int64_t i = 0; i < count; ++i) {
    const auto size = std::abs(get(i));
    found.least = std::min<double>(found.least, size);
    found.finite &= std::isfinite(size);
  }
  return found;
}

// Returns the extremes of the elements. A separate loop makes f32 fast, because large weights are
// often f32.
Extremes ExtremesOf(const Array& array) {
  if (array.type() != DataType::kF32)
    return ExtremesOf(array.size(), [&](int64_t i) { return array.GetDouble(i); });
  return ExtremesOf(array.size(), [values = array.As<float>()](int64_t i) { return values[i]; });
}

// Returns whether rounding of the result needs no check. A sum rounds to the unit of its largest
// terms, and a cast is a rounding of the model itself.
bool RoundsAsMeant(Op op) {
  return op == Op::kReduceSum || op == Op::kReduceMean || op == Op::kMatmul || op == Op::kCast;
}

// Magnitudes with which the elements of an array are compared. Each position along an axis has a
// slice, and each slice has a greatest magnitude. An element is compared with the least of these
// magnitudes over the slices that contain the element.
class SliceSizes {
 public:
  explicit SliceSizes(const Array& array)
      : shape_(array.shape()), strides_(reference::StridesOf(shape_)) {
    for (const int64_t extent : shape_) greatest_.emplace_back(extent, 0.0);
    for (int64_t i = 0; i < array.size(); ++i) {
      const double size = std::abs(array.GetDouble(i));
      for (size_t axis = 0; axis < shape_.size(); ++axis) {
        double& greatest = greatest_[axis][At(axis, i)];
        greatest = std::max(greatest, size);
      }
    }
  }

  double Of(int64_t element) const {
    double least = std::numeric_limits<double>::infinity();
    for (size_t axis = 0; axis < shape_.size(); ++axis)
      least = std::min(least, greatest_[axis][At(axis, element)]);
    return least;
  }

 private:
  size_t At(size_t axis, int64_t element) const {
    return static_cast<size_t>(element / strides_[axis] % shape_[axis]);
  }

  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  std::vector<std::vector<double>> greatest_;  // indexed by axis and by the position along the axis
};

// Returns the positions of the elements that may have lost digits because they are tiny.
std::vector<int64_t> TinyElements(const Array& array) {
  const double least = LeastNormal(array.type());
  std::vector<int64_t> tiny;
  const auto add = [&](auto get) {
    for (int64_t i = 0; i < array.size(); ++i)
      if (std::abs(get(i)) < least) tiny.push_back(i);
  };
  if (array.type() == DataType::kF32)
    add([values = array.As<float>()](int64_t i) { return values[i]; });
  else
    add([&](int64_t i) { return array.GetDouble(i); });
  return tiny;
}

// Returns the operand's elements that are broadcast to the positions `elements` of a result of this
// shape.
Array MeetingElements(const Array& operand, std::span<const int64_t> shape,
                      std::span<const int64_t> elements) {
  const std::vector<int64_t> strides = reference::StridesOf(shape);
  const std::vector<int64_t> own = reference::BroadcastStrides(operand, shape.size());
  Array found(operand.type(), {std::ssize(elements)});
  for (size_t e = 0; e < elements.size(); ++e) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      offset += elements[e] / strides[axis] % shape[axis] * own[axis];
    found.SetDouble(static_cast<int64_t>(e), operand.GetDouble(offset));
  }
  return found;
}

bool IsBroadcastArithmetic(Op op) {
  return op == Op::kAdd || op == Op::kSub || op == Op::kMul || op == Op::kDiv;
}

// Returns the node's result at the positions `elements`, computed in float64. Returns nothing if
// the node cannot be computed.
std::optional<std::vector<double>> ExactElements(const Node& node, std::span<const Array> operands,
                                                 const ValueType& type,
                                                 std::span<const int64_t> elements) {
  std::vector<double> values;
  if (!IsBroadcastArithmetic(node.op)) {
    const auto exact = RunNode(node, operands, std::span(&type, 1), Precision::kFloat64);
    if (!exact) return {};
    for (const int64_t i : elements) values.push_back(exact->front().GetDouble(i));
    return values;
  }
  std::vector<Array> meeting;
  for (const Array& operand : operands)
    meeting.push_back(MeetingElements(operand, type.Shape(), elements));
  const ValueType row{type.type, {Dim(std::ssize(elements))}};
  const auto exact = RunNode(node, meeting, std::span(&row, 1), Precision::kFloat64);
  if (!exact) return {};
  for (int64_t e = 0; e < std::ssize(elements); ++e) values.push_back(exact->front().GetDouble(e));
  return values;
}

// Returns whether the result has enough digits of its tiny elements, whose exact values are given.
bool KeepsTinyNumbers(const Array& rounded, std::span<const int64_t> elements,
                      std::span<const double> exact) {
  const double unit = RoundingOf(rounded.type());
  std::optional<SliceSizes> sizes;
  for (size_t e = 0; e < elements.size(); ++e) {
    const double lost = std::abs(exact[e] - rounded.GetDouble(elements[e]));
    if (lost <= unit * std::abs(exact[e])) continue;
    if (rounded.shape().empty()) return false;
    if (!sizes) sizes.emplace(rounded);
    if (lost > unit * sizes->Of(elements[e])) return false;
  }
  return true;
}

}  // namespace

bool IsFinite(const Array& array) { return !IsFloat(array.type()) || ExtremesOf(array).finite; }

bool HoldsNumber(DataType type, double exact) {
  if (!std::isfinite(exact)) return true;
  const double rounded = RoundTo(exact, type);
  if (!std::isfinite(rounded)) return false;
  return std::abs(exact) >= LeastNormal(type) ||
         std::abs(rounded - exact) <= RoundingOf(type) * std::abs(exact);
}

std::optional<Array> JoinConstants(const Node& node, std::span<const Array> operands,
                                   const ValueType& type) {
  const std::span types(&type, 1);
  auto results = RunNode(node, operands, types, Precision::kNative);
  if (!results) return {};
  Array& result = results->front();
  if (!IsFloat(type.type)) return std::move(result);
  const Extremes found = ExtremesOf(result);
  if (!found.finite && std::ranges::all_of(operands, IsFinite)) return {};
  const bool checked = type.type != DataType::kF64 && !RoundsAsMeant(node.op);
  if (!checked || found.least >= LeastNormal(type.type)) return std::move(result);
  const std::vector<int64_t> tiny = TinyElements(result);
  const auto exact = ExactElements(node, operands, type, tiny);
  if (!exact || !KeepsTinyNumbers(result, tiny, *exact)) return {};
  return std::move(result);
}

}  // namespace tunec
