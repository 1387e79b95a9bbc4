// Handlers of the scatter operators, MaxUnpool and TopK. The graph's scatter writes along one axis,
// or along several axes that one flattened index addresses. Indices are broadcast to the updates.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"
#include "graph/onnx/handlers/order.h"
#include "graph/onnx/handlers/positions.h"
#include "graph/onnx/handlers/window.h"
#include "graph/passes/index_checks.h"
#include "ir/size/size_condition.h"
#include "ir/size/size_text.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

Result<std::string> ReadReduction(const NodeContext& node) {
  return node.Choice("reduction", {"none", "add", "mul", "max", "min"});
}

/// The `depth` axes from `axis` on, which one flattened index addresses.
struct ScatterAxes {
  int64_t axis = 0;
  int64_t depth = 1;
};

Formula Scatter(const Formula& data, const Formula& indices, const Formula& updates,
                const ScatterAxes& axes, const std::string& reduction) {
  return Apply(Op::kScatter, {data, indices, updates},
               {{"axis", axes.axis}, {"depth", axes.depth}, {"reduction", reduction}});
}

/// Returns a shape: the extent, then `ones` axes of extent 1.
std::vector<Dim> Column(const Dim& extent, size_t ones) {
  std::vector<Dim> shape(1 + ones, 1);
  shape[0] = extent;
  return shape;
}

/// Imports ScatterND. Each row of `indices`, on the last axis, is a position in data's first axes.
Result<Operands> ScatterNd(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand data, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const Operand updates, node.Input(2));
  TUNEC_ASSIGN(const std::string reduction, ReadReduction(node));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(indices, 1, kMostAxes));
  TUNEC_ASSIGN(const int64_t depth, node.Extent(indices, -1));
  if (depth < 1 || depth > data->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "indices have {} positions each, expected 1 to {}",
                depth, data->rank());
  }
  const auto axes = static_cast<size_t>(depth);
  const Dim rows = data->shape.Elements(0, axes);
  const Dim inner = data->shape.Elements(axes);
  const Dim count = indices->shape.Elements(0, indices->shape.size() - 1);
  if (!MayBeEqual({updates->shape.Elements()}, {count * inner})) {
    return Fail(ErrorCode::kInvalidArgument, "updates do not fit indices and data");
  }
  if (count * inner == Dim(0)) return Operands{data};
  TUNEC_ASSIGN(const Formula numbers,
               RowNumbers(Formula(node, indices), data->shape.Part(0, axes), rows));
  const std::vector<Dim> row = data->shape.Part(axes);
  std::vector<Dim> shape = {count};
  shape.insert(shape.end(), row.begin(), row.end());
  return Results({Scatter(Formula(node, data), numbers.Reshape(Column(count, row.size())),
                          Formula(node, updates).Reshape(shape), {.depth = depth}, reduction)});
}

/// Imports ScatterElements and its predecessor Scatter. Each update has its own index along the
/// axis. In all other axes the update's position is used.
Result<Operands> ScatterElements(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand data, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const Operand updates, node.Input(2));
  TUNEC_ASSIGN(const std::string reduction, ReadReduction(node));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, data->rank()));
  TUNEC_ASSIGN(const bool fit, NodeContext::HaveEqualShapes(indices, updates));
  if (!fit || indices->rank() != data->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "indices and updates do not fit the data");
  }
  for (int64_t d = 0; d < data->rank(); ++d) {
    TUNEC_ASSIGN(const Dim most, node.DimOf(data, d));
    TUNEC_ASSIGN(const Dim given, node.DimOf(indices, d));
    if (d != axis && Decide({SizeCondition::Kind::kAtMost, given, most}, {}) == Decision::kFalse) {
      return Fail(ErrorCode::kInvalidArgument, "indices are larger than the data on axis {}", d);
    }
  }
  TUNEC_ASSIGN(const Dim extent, node.DimOf(data, axis));
  if (extent == Dim(0) || indices->shape.Elements() == Dim(0)) return Operands{data};
  if (indices->constant && extent.IsConstant())
    TUNEC_RETURN_IF_ERROR(CheckIndices(*indices->constant, extent.Value()));
  return Results({Scatter(Formula(node, data), Formula(node, indices), Formula(node, updates),
                          {.axis = axis}, reduction)});
}

/// Imports TensorScatter, which writes each batch's update into a cache. An operand has the start
/// position of each batch. If this operand is omitted, all batches start at 0.
Result<Operands> TensorScatter(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand cache, node.Input(0));
  TUNEC_ASSIGN(const Operand update, node.Input(1));
  TUNEC_ASSIGN(const std::string mode, node.Choice("mode", {"linear", "circular"}));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -2, cache->rank()));
  if (axis == 0 || update->rank() != cache->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "cache and update do not fit at axis {}", axis);
  }
  TUNEC_ASSIGN(const Dim batch, node.DimOf(cache, 0));
  TUNEC_ASSIGN(const Dim extent, node.DimOf(cache, axis));
  TUNEC_ASSIGN(const Dim length, node.DimOf(update, axis));
  const auto along = [&](int64_t d, const Dim& size) {
    std::vector<Dim> shape(cache->shape.size(), 1);
    shape[static_cast<size_t>(d)] = size;
    return shape;
  };
  TUNEC_ASSIGN(const bool fits, NodeContext::IsAtMost(length, extent));
  TUNEC_ASSIGN(const bool has_elements, NodeContext::IsAtMost(1, length));
  if (!fits || !has_elements) {
    return Fail(ErrorCode::kInvalidArgument, "an update of {} for a cache of {}", Print(length),
                Print(extent));
  }
  Formula position = Iota(node, 0, length).Reshape(along(axis, length));
  if (node.HasInput(2))
    position = position + In(node, 2).Cast(DataType::kI64).Reshape(along(0, batch));
  const Formula end = position.Size(extent);
  position = mode == "circular" ? Apply(Op::kMod, {position, end})
                                : Where(Less(position, position.Number(0)), end, position);
  return Results(
      {Scatter(Formula(node, cache), position, Formula(node, update), {.axis = axis}, "none")});
}

/// Imports MaxUnpool, which writes values to the positions that a max pool read them from. Other
/// elements are zero.
Result<Operands> MaxUnpool(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const Window window, ReadWindow(node, {}));
  TUNEC_ASSIGN(const std::vector<int64_t> pads, NodeContext::Numbers(window.pads));
  const size_t rank = window.rank();
  TUNEC_ASSIGN(const std::vector<int64_t> x_shape, node.Shape(x));
  const std::vector<int64_t> sizes(x_shape.begin() + std::min<int64_t>(2, x->rank()),
                                   x_shape.end());
  TUNEC_ASSIGN(const bool fit, NodeContext::HaveEqualShapes(indices, x));
  if (sizes.size() != rank || !fit) {
    return Fail(ErrorCode::kInvalidArgument, "input, indices and kernel_shape do not fit");
  }
  std::vector<int64_t> shape(x_shape.begin(), x_shape.begin() + std::min<int64_t>(2, x->rank()));
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back(MultiplySizes(sizes[i] - 1, window.strides[i]) + window.kernel[i] - pads[i] -
                    pads[i + rank]);
  }
  std::vector<int64_t> output_shape = shape;
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(output_shape, node.ConstantInts(2));
  }
  const int64_t size = ElementCount(shape);
  if (size < 0 || output_shape.size() != shape.size() || ElementCount(output_shape) < 0 ||
      !std::ranges::equal(shape, output_shape, std::less_equal())) {
    return Fail(ErrorCode::kInvalidArgument, "the result's shape does not fit");
  }
  // Indices refer to a tensor of the computed shape. A larger result has zeros at its ends.
  const Dim count = x->shape.Elements();
  const Formula value(node, x);
  const Formula y = Scatter(
      value.Number(0).Expand(shape), Formula(node, indices).Cast(DataType::kI64).Reshape({count}),
      value.Reshape({count}), {.depth = static_cast<int64_t>(shape.size())}, "none");
  std::vector<int64_t> ends(2 * shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) ends[shape.size() + d] = output_shape[d] - shape[d];
  return Results({output_shape == shape ? y : Apply(Op::kPad, {y}, {{"pads", ends}})});
}

/// Imports TopK: the k largest or smallest elements along the axis, sorted, and their positions.
Result<Operands> TopK(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -1, input->rank()));
  TUNEC_ASSIGN(const int64_t largest, node.Int("largest", 1));
  TUNEC_ASSIGN(int64_t k, node.Int("k", 0));
  if (node.version() >= 10) {
    TUNEC_ASSIGN(k, node.ConstantInt(1));
  }
  TUNEC_ASSIGN(const int64_t n, node.Extent(input, axis));
  if (k < 1 || k > n) return Fail(ErrorCode::kInvalidArgument, "k is {} of {} elements", k, n);
  const Formula x(node, input);
  const Formula positions = FirstPositions(x, axis, k, largest != 0);
  const Formula values = Apply(Op::kGatherElements, {x, positions}, {{"axis", axis}});
  return Results({values, positions});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"MaxUnpool", 9, MaxUnpool},
    {"Scatter", 9, ScatterElements},
    {"ScatterElements", 11, ScatterElements},
    {"ScatterND", 11, ScatterNd},
    {"TensorScatter", 24, TensorScatter},
    {"TopK", 1, TopK},
});

}  // namespace

std::span<const Handler> ScatterHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
