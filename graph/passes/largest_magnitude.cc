#include "graph/passes/largest_magnitude.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
// The factor by which the bound of each computed value grows. It covers rounding errors with a wide
// margin.
constexpr double kRounding = 1.01;
constexpr int kDeepest = 64;

template <class T>
double LargestOf(std::span<const T> elements) {
  double largest = 0;
  for (const T element : elements)
    if (!std::isnan(element)) largest = std::max<double>(largest, std::abs(element));
  return largest;
}

double LargestOf(const Array& array) {
  if (array.type() == DataType::kF32) return LargestOf(array.As<float>());
  if (array.type() == DataType::kF64) return LargestOf(array.As<double>());
  double largest = 0;
  for (int64_t i = 0; i < array.size(); ++i) {
    const double element = std::abs(array.GetDouble(i));
    if (!std::isnan(element)) largest = std::max(largest, element);
  }
  return largest;
}

class MagnitudeFinder {
 public:
  explicit MagnitudeFinder(const Graph& graph) : graph_(graph) {}

  double Find(ValueId value, int depth) {
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    if (depth > kDeepest || !IsFloat(graph_.value(value).type.type)) return kUnknown;
    const Array* constant = graph_.ConstantOf(value);
    double largest = constant != nullptr ? LargestOf(*constant)
                                         : OfNode(graph_.producer(value), depth + 1) * kRounding;
    // A bound above the largest finite number is useless: the value may overflow to infinity.
    if (std::isnan(largest) || largest > LargestFinite(graph_.value(value).type.type))
      largest = kUnknown;
    return known_[value] = largest;
  }

 private:
  double OfNode(const Node& node, int depth) {
    const auto operand = [&](size_t i) { return Find(node.inputs[i], depth); };
    const auto given = [&](size_t i) { return i < node.inputs.size() && node.inputs[i].valid(); };
    switch (node.op) {
      case Op::kTanh:
      case Op::kSigmoid:
      case Op::kErf:
      case Op::kSin:
      case Op::kCos:
      case Op::kSoftmax:
        return 1;
      case Op::kIdentity:
      case Op::kCast:
      case Op::kNeg:
      case Op::kAbs:
      case Op::kRelu:
      case Op::kGelu:
      case Op::kSilu:
      case Op::kReshape:
      case Op::kTranspose:
      case Op::kSlice:
      case Op::kExpand:
      case Op::kGather:
        return operand(0);
      case Op::kConcat: {
        double largest = 0;
        for (size_t i = 0; i < node.inputs.size(); ++i) largest = std::max(largest, operand(i));
        return largest;
      }
      case Op::kAdd:
      case Op::kSub:
        return operand(0) + operand(1);
      case Op::kMul:
        return operand(0) * operand(1);
      case Op::kRotaryEmbedding:
        return operand(0) * (operand(1) + operand(2));
      case Op::kMatmul:
        return Depth(node) * operand(0) * operand(1);
      // |x - mean| <= sqrt(n) * deviation holds in a row of n elements, and likewise for the rms.
      // So the magnitude of a normalised element is at most sqrt(n).
      case Op::kLayerNorm:
      case Op::kRmsNorm:
        return std::sqrt(RowLength(node)) * operand(1) + (given(2) ? operand(2) : 0);
      default:
        return kUnknown;
    }
  }

  double Depth(const Node& node) const {
    const std::vector<Dim>& dims = graph_.value(node.inputs[0]).type.dims;
    const size_t axis = dims.size() - (node.Int("transpose_a") != 0 && dims.size() > 1 ? 2 : 1);
    return dims[axis].IsConstant() ? static_cast<double>(dims[axis].Value()) : kUnknown;
  }

  // Returns the number of elements that are normalised together; infinity if it is dynamic.
  double RowLength(const Node& node) const {
    const std::vector<Dim>& dims = graph_.value(node.inputs[0]).type.dims;
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = node.Int("axis") < 0 ? node.Int("axis") + rank : node.Int("axis");
    double length = 1;
    for (int64_t d = axis; d < rank; ++d)
      length *= dims[d].IsConstant() ? static_cast<double>(dims[d].Value()) : kUnknown;
    return length;
  }

  const Graph& graph_;
  std::map<ValueId, double> known_;
};

}  // namespace

double LargestMagnitude(const Graph& graph, ValueId value) {
  return MagnitudeFinder(graph).Find(value, 0);
}

}  // namespace tunec
