// Export of data movement, indexing and memory operators as ONNX nodes.
#include <array>
#include <cmath>
#include <limits>

#include "graph/onnx/export/forms.h"
#include "graph/onnx/node_context.h"

namespace tunec::onnx_export {
namespace {

using Written = Result<std::string>;

/// Writes a Reshape. Without allowzero, ONNX copies the old extent for a size of 0.
Written WriteReshape(FormContext& node) {
  return node.Emit("Reshape", {node.input(0), node.Ints(node.node().Ints("shape"))},
                   {{"allowzero", int64_t{1}}});
}

Written WriteExpand(FormContext& node) {
  return node.Emit("Expand", {node.input(0), node.Ints(node.node().Ints("shape"))});
}

/// Writes a Slice. A negative end means "before the first element" in the graph, but "from the end"
/// in ONNX, so the least int64 replaces it.
Written WriteSlice(FormContext& node) {
  const Node& slice = node.node();
  std::vector<int64_t> ends = slice.Ints("ends");
  for (int64_t& end : ends)
    if (end < 0) end = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> axes = onnx_import::AllAxes(static_cast<int64_t>(ends.size()));
  const std::string starts = node.Ints(slice.Ints("starts"));
  const std::string ends_name = node.Ints(ends);
  const std::string axes_name = node.Ints(axes);
  return node.Emit("Slice",
                   {node.input(0), starts, ends_name, axes_name, node.Ints(slice.Ints("steps"))});
}

Written WritePad(FormContext& node) {
  const std::string& mode = node.node().String("mode");
  const std::string pads = node.Ints(node.node().Ints("pads"));
  std::vector<std::string> inputs{node.input(0), pads};
  if (mode == "constant") inputs.push_back(node.Scalar(node.node().Float("value"), node.type()));
  return node.Emit("Pad", std::move(inputs), {{"mode", mode}});
}

Written WriteTile(FormContext& node) {
  return node.Emit("Tile", {node.input(0), node.Ints(node.node().Ints("repeats"))});
}

/// Writes a gather. ONNX's indices are i32 or i64, so other types are cast to i64.
Written WriteGather(FormContext& node) {
  const DataType type = node.InputType(1).type;
  const DataType wide = type == DataType::kI32 ? type : DataType::kI64;
  const std::string indices = node.Cast(node.input(1), type, wide);
  return node.Emit(node.form().onnx_name, {node.input(0), indices},
                   {{"axis", node.node().Int("axis")}});
}

/// Writes a ScatterElements. Its indices have the updates' shape and are positions along one axis.
/// So the graph's indices are expanded, and a reshape joins the axes that they address.
Written WriteScatter(FormContext& node) {
  TUNEC_ASSIGN(const std::vector<int64_t> shape, node.InputShape(0));
  TUNEC_ASSIGN(const std::vector<int64_t> updates, node.InputShape(2));
  const Node& scatter = node.node();
  const int64_t axis = scatter.Int("axis");
  std::vector<int64_t> joined = shape;
  for (int64_t d = 1; d < scatter.Int("depth"); ++d) {
    joined[static_cast<size_t>(axis)] *= joined[static_cast<size_t>(axis) + 1];
    joined.erase(joined.begin() + axis + 1);
  }
  const auto reshaped = [&](const std::string& x, const std::vector<int64_t>& to) {
    return joined == shape ? x : node.Emit("Reshape", {x, node.Ints(to)});
  };
  const std::string wide = node.Cast(node.input(1), node.InputType(1).type, DataType::kI64);
  const std::string indices = node.Emit("Expand", {wide, node.Ints(updates)});
  const std::string y =
      node.Emit("ScatterElements", {reshaped(node.input(0), joined), indices, node.input(2)},
                {{"axis", axis}, {"reduction", scatter.String("reduction")}});
  return reshaped(y, shape);
}

/// Writes a Resize. Sizes are used if they determine the scales, because ONNX stores scales only as
/// float32.
Written WriteResize(FormContext& node) {
  const Node& resize = node.node();
  TUNEC_ASSIGN(const std::vector<int64_t> from, node.InputShape(0));
  const std::vector<int64_t>& shape = resize.Ints("shape");
  const std::vector<double>& scales = resize.Floats("scales");
  bool by_sizes = true;
  for (size_t a = 0; a < from.size(); ++a) {
    const double ratio = static_cast<double>(shape[a]) / static_cast<double>(from[a]);
    by_sizes = by_sizes && std::abs(ratio - scales[a]) <= 1e-6 * scales[a];
  }
  std::vector<std::string> inputs{node.input(0), "", "", ""};
  if (by_sizes) {
    inputs[3] = node.Ints(shape);
  } else {
    Array array(DataType::kF32, {static_cast<int64_t>(scales.size())});
    for (size_t a = 0; a < scales.size(); ++a) array.SetDouble(static_cast<int64_t>(a), scales[a]);
    inputs[2] = node.Constant(std::move(array));
  }
  const std::string& mode = resize.String("mode");
  OnnxAttributes attributes{{"mode", mode},
                            {"coordinate_transformation_mode", resize.String("coordinate")}};
  if (mode == "nearest") attributes.emplace("nearest_mode", resize.String("nearest_mode"));
  if (mode == "cubic") attributes.emplace("cubic_coeff_a", resize.Float("cubic_a"));
  if (mode == "cubic") attributes.emplace("exclude_outside", resize.Int("exclude_outside"));
  return node.Emit("Resize", std::move(inputs), std::move(attributes));
}

/// Writes a Range, which is computed in 64 bits and then cast. So rounding in a narrow type does
/// not change the number of elements.
Written WriteRange(FormContext& node) {
  const Node& range = node.node();
  const DataType type = node.OutputType().type;
  const DataType wide = IsFloat(type) ? DataType::kF64 : DataType::kI64;
  const std::string start = node.Scalar(range.Float("start"), wide);
  const std::string limit = node.Scalar(range.Float("limit"), wide);
  return node.Cast(node.Emit("Range", {start, limit, node.Scalar(range.Float("delta"), wide)}),
                   wide, type);
}

/// Writes a OneHot of zeros and ones, which then select between the values. Runtimes support only
/// few types of values.
Written WriteOneHot(FormContext& node) {
  const Node& one_hot = node.node();
  const DataType type = node.OutputType().type;
  const std::string indices = node.Cast(node.input(0), node.type(), DataType::kI64);
  const std::string depth = node.Scalar(static_cast<double>(one_hot.Int("depth")), DataType::kI64);
  const std::string hot =
      node.Emit("OneHot", {indices, depth, node.Ints({0, 1})}, {{"axis", one_hot.Int("axis")}});
  const std::string chosen = node.Cast(hot, DataType::kI64, DataType::kBool);
  const std::string on = node.Scalar(one_hot.Float("on_value"), type);
  return node.Emit("Where", {chosen, on, node.Scalar(one_hot.Float("off_value"), type)});
}

/// Returns elements `begin`, `begin + step`, ... before `end` of the last axis.
std::string SliceLast(FormContext& node, const std::string& x, int64_t begin, int64_t end,
                      int64_t step) {
  return node.Emit("Slice",
                   {x, node.Ints({begin}), node.Ints({end}), node.Ints({-1}), node.Ints({step})});
}

/// Writes a rotary embedding of pairs (a, b) as a cos - b sin and b cos + a sin. Opset 20 has no
/// such operator.
Written WriteRotary(FormContext& node) {
  TUNEC_ASSIGN(const std::vector<int64_t> shape, node.InputShape(0));
  TUNEC_ASSIGN(const std::vector<int64_t> angle_shape, node.InputShape(1));
  const int64_t size = shape.back();
  const int64_t angles = angle_shape.back();
  const bool for_each = angles == size;
  const int64_t turned = for_each ? size : 2 * angles;
  const bool interleaved = node.node().Int("interleaved") != 0;
  const auto part = [&](const std::string& x, bool second) {
    if (interleaved) return SliceLast(node, x, second ? 1 : 0, turned, 2);
    return SliceLast(node, x, second ? turned / 2 : 0, second ? turned : turned / 2, 1);
  };
  const auto angle = [&](size_t input, bool second) {
    return for_each ? part(node.input(input), second) : node.input(input);
  };
  const std::string a = part(node.input(0), false);
  const std::string b = part(node.input(0), true);
  const auto times = [&](const std::string& x, const std::string& y) {
    return node.Emit("Mul", {x, y});
  };
  std::string first = node.Emit("Sub", {times(a, angle(1, false)), times(b, angle(2, false))});
  std::string second = node.Emit("Add", {times(b, angle(1, true)), times(a, angle(2, true))});
  std::vector<std::string> parts = {first, second};
  if (interleaved) {
    std::vector<int64_t> joined = shape;
    joined.back() = turned;
    for (std::string& one : parts) one = node.Emit("Unsqueeze", {one, node.Ints({-1})});
    const std::string pairs = node.Emit("Concat", parts, {{"axis", int64_t{-1}}});
    parts = {node.Emit("Reshape", {pairs, node.Ints(joined)}, {{"allowzero", int64_t{1}}})};
  }
  if (turned < size) parts.push_back(SliceLast(node, node.input(0), turned, size, 1));
  return node.Emit("Concat", parts, {{"axis", int64_t{-1}}});
}

Written WriteAlloc(FormContext& node) {
  Array zero(node.OutputType().type, {1});
  return node.Emit("ConstantOfShape", {node.Ints(node.node().Ints("shape"))}, {{"value", zero}});
}

constexpr auto kForms = std::to_array<ExportForm>({
    {Op::kTranspose, WriteWithAttributes, "Transpose"},
    {Op::kReshape, WriteReshape},
    {Op::kExpand, WriteExpand},
    {Op::kSlice, WriteSlice},
    {Op::kConcat, WriteWithAttributes, "Concat"},
    {Op::kPad, WritePad},
    {Op::kTile, WriteTile},
    {Op::kGather, WriteGather, "Gather"},
    {Op::kGatherElements, WriteGather, "GatherElements"},
    {Op::kScatter, WriteScatter},
    {Op::kResize, WriteResize},
    {Op::kRange, WriteRange},
    {Op::kOneHot, WriteOneHot},
    {Op::kRotaryEmbedding, WriteRotary},
    {Op::kCopy, WriteWithoutAttributes, "Identity"},
    {Op::kAlloc, WriteAlloc},
    {Op::kFree, nullptr},
    {Op::kToDevice, WriteWithoutAttributes, "Identity"},
});

}  // namespace

std::span<const ExportForm> MovementForms() { return kForms; }

}  // namespace tunec::onnx_export
