// Import of Constant, ConstantOfShape, EyeLike and Range.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

template <class T>
Array FloatArray(const std::vector<T>& values, std::vector<int64_t> shape) {
  Array array(DataType::kF32, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) array.SetDouble(static_cast<int64_t>(i), values[i]);
  return array;
}

Result<Operands> Constant(const NodeContext& node, Op) {
  if (node.HasAttribute("value")) {
    TUNEC_ASSIGN(Array value, node.Tensor("value"));
    return Operands{node.Constant(std::move(value))};
  }
  if (node.HasAttribute("value_float")) {
    TUNEC_ASSIGN(const double value, node.Float("value_float", 0));
    return Operands{node.Scalar(value, DataType::kF32)};
  }
  if (node.HasAttribute("value_int")) {
    TUNEC_ASSIGN(const int64_t value, node.Int("value_int", 0));
    return Operands{node.Constant(IntArray({value}).Reshaped({}))};
  }
  if (node.HasAttribute("value_ints")) {
    TUNEC_ASSIGN(const std::vector<int64_t> values, node.Ints("value_ints", {}));
    return Operands{node.Ints64(values)};
  }
  if (node.HasAttribute("value_floats")) {
    TUNEC_ASSIGN(const std::vector<double> values, node.Floats("value_floats"));
    return Operands{node.Constant(FloatArray(values, {static_cast<int64_t>(values.size())}))};
  }
  return Fail(ErrorCode::kUnsupported, "the constant is neither a tensor nor a number");
}

Result<Operands> ConstantOfShape(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const std::vector<Dim> shape, node.Sizes(0));
  Array value(DataType::kF32, {});
  if (node.HasAttribute("value")) {
    TUNEC_ASSIGN(value, node.Tensor("value"));
  }
  if (value.size() != 1) {
    return Fail(ErrorCode::kParse, "value has {} elements, expected one", value.size());
  }
  return One(node.Full(shape, value));
}

constexpr int64_t kMostElements = 1 << 26;

template <class T>
Result<Array> RangeOf(T start, T limit, T delta, DataType type) {
  const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                 static_cast<double>(delta));
  if (delta == 0 || !(count <= kMostElements)) {
    return Fail(ErrorCode::kInvalidArgument, "from {} to {} in steps of {} is not a finite range",
                start, limit, delta);
  }
  Array array(type, {count > 0 ? static_cast<int64_t>(count) : 0});
  for (int64_t i = 0; i < array.size(); ++i) {
    if constexpr (std::is_same_v<T, double>) {
      array.SetDouble(i, start + static_cast<double>(i) * delta);
    } else {
      // Computes with wrapping: i * delta may exceed int64 although the sum does not.
      const uint64_t offset = static_cast<uint64_t>(i) * static_cast<uint64_t>(delta);
      array.SetInt(i, static_cast<int64_t>(static_cast<uint64_t>(start) + offset));
    }
  }
  return array;
}

/// Imports Range of integers with named sizes.
Result<Operands> NamedRange(const NodeContext& node) {
  std::array<Dim, 3> bounds;
  for (size_t i = 0; i < 3; ++i) {
    TUNEC_ASSIGN(const std::vector<Dim> bound, node.Sizes(i));
    if (bound.size() != 1)
      return Fail(ErrorCode::kParse, "input {} has {} elements, expected one", i, bound.size());
    bounds[i] = bound.front();
  }
  TUNEC_ASSIGN(const std::vector<int64_t> delta, NodeContext::Numbers({bounds[2]}));
  if (delta.front() == 0) return Fail(ErrorCode::kInvalidArgument, "the step is 0");
  TUNEC_ASSIGN(const Operand start, node.Input(0));
  return One(node.Emit(Op::kRange, {},
                       {{"start", NumberAttribute(bounds[0])},
                        {"limit", NumberAttribute(bounds[1])},
                        {"delta", static_cast<double>(delta.front())},
                        {"to", std::string(Name(start->type))}}));
}

Result<Operands> Range(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operands inputs, node.Inputs());
  if (std::ranges::any_of(inputs, [](const Operand& bound) { return bound->sizes.has_value(); }))
    return NamedRange(node);
  std::array<Array, 3> bounds;
  for (size_t i = 0; i < 3; ++i) {
    TUNEC_ASSIGN(bounds[i], node.ConstantInput(i));
    if (bounds[i].size() != 1 || bounds[i].type() != bounds[0].type()) {
      return Fail(ErrorCode::kParse, "input {} is not a scalar of the others' type", i);
    }
  }
  const auto& [start, limit, delta] = bounds;
  TUNEC_ASSIGN(Array array, IsFloat(start.type())
                                ? RangeOf<double>(start.GetDouble(0), limit.GetDouble(0),
                                                  delta.GetDouble(0), start.type())
                                : RangeOf<int64_t>(start.GetInt(0), limit.GetInt(0),
                                                   delta.GetInt(0), start.type()));
  return Operands{node.Constant(std::move(array))};
}

Result<Operands> EyeLike(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t k, node.Int("k", 0));
  DataType type = x->type;
  if (node.HasAttribute("dtype")) {
    TUNEC_ASSIGN(const int64_t number, node.Int("dtype", 0));
    TUNEC_ASSIGN(type, ElementType(number));
  }
  TUNEC_ASSIGN(const auto dims, node.Dims<2>(x));
  if (!x->shape.IsFixed()) {
    const Formula row = Iota(node, 0, dims[0]).Unsqueeze(1);
    return Results(
        {Equal(Iota(node, 0, dims[1]) - row, row.Number(0) + static_cast<double>(k)).Cast(type)});
  }
  TUNEC_ASSIGN(const auto extents, node.Extents<2>(x));
  const auto [rows, columns] = extents;
  if (rows * columns > kMostElements) {
    return Fail(ErrorCode::kUnsupported, "{}, expected a matrix of at most {} elements",
                node.Describe(x), kMostElements);
  }
  Array array(type, x->shape.Fixed());
  for (int64_t at = 0; at < array.size(); ++at) {
    if (at % columns - at / columns != k) continue;
    IsFloat(type) ? array.SetDouble(at, 1) : array.SetInt(at, 1);
  }
  return Operands{node.Constant(std::move(array))};
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Constant", 1, Constant},
    {"ConstantOfShape", 9, ConstantOfShape},
    {"EyeLike", 9, EyeLike},
    {"Range", 11, Range},
});

}  // namespace

std::span<const Handler> ConstantHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
