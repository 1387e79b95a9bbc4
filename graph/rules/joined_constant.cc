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

// Finds the extremes of the elements. A separate loop makes f32 fast, because most weights are f32
// and large.
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
  explicit SliceSizes(const Array& exact)
      : shape_(exact.shape()), strides_(reference::StridesOf(shape_)) {
    for (const int64_t extent : shape_) greatest_.emplace_back(extent, 0.0);
    for (int64_t i = 0; i < exact.size(); ++i) {
      const double size = std::abs(exact.GetDouble(i));
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

bool KeepsTinyNumbers(const Array& rounded, const Array& exact) {
  const double least = LeastNormal(rounded.type()), unit = RoundingOf(rounded.type());
  std::optional<SliceSizes> sizes;
  for (int64_t i = 0; i < rounded.size(); ++i) {
    const double value = exact.GetDouble(i);
    const double lost = std::abs(value - rounded.GetDouble(i));
    if (std::abs(rounded.GetDouble(i)) >= least || lost <= unit * std::abs(value)) continue;
    if (rounded.shape().empty()) return false;
    if (!sizes) sizes.emplace(exact);
    if (lost > unit * sizes->Of(i)) return false;
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
  const auto exact = RunNode(node, operands, types, Precision::kFloat64);
  if (!exact || !KeepsTinyNumbers(result, exact->front())) return {};
  return std::move(result);
}

}  // namespace tunec
