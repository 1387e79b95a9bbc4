// Handlers of Slice, Split, Pad, CenterCropPad and Trilu.
#include <algorithm>
#include <array>
#include <limits>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

struct SliceLists {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
};

/// Reads the lists of Slice, which are attributes before opset 10 and inputs from then on.
Result<SliceLists> ReadSlice(const NodeContext& node, int64_t rank) {
  SliceLists lists;
  if (node.version() < 10) {
    TUNEC_ASSIGN(lists.starts, node.Ints("starts", {}));
    TUNEC_ASSIGN(lists.ends, node.Ints("ends", {}));
    TUNEC_ASSIGN(lists.axes, node.Ints("axes", {}));
  } else {
    TUNEC_ASSIGN(lists.starts, node.ConstantInts(1));
    TUNEC_ASSIGN(lists.ends, node.ConstantInts(2));
    if (node.HasInput(3)) {
      TUNEC_ASSIGN(lists.axes, node.ConstantInts(3));
    }
    if (node.HasInput(4)) {
      TUNEC_ASSIGN(lists.steps, node.ConstantInts(4));
    }
  }
  const size_t count = lists.starts.size();
  if (lists.axes.empty()) lists.axes = AllAxes(static_cast<int64_t>(count));
  if (lists.steps.empty()) lists.steps.assign(count, 1);
  if (lists.ends.size() != count || lists.axes.size() != count || lists.steps.size() != count) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} starts, {} ends, {} axes, {} steps, expected as many of each", count,
                lists.ends.size(), lists.axes.size(), lists.steps.size());
  }
  for (int64_t& axis : lists.axes) {
    TUNEC_ASSIGN(axis, NormalizeAxis(axis, rank));
  }
  return lists;
}

/// The elements of an axis that one slice selects. Before Normalised, negative bounds count from
/// the end of the axis. After it, `end` is -1 if a backward slice includes element 0.
struct AxisSlice {
  int64_t start = 0;
  int64_t end = 0;
  int64_t step = 1;
};

/// Returns a bound counted from the front and clamped to [least, most]. A negative `bound` is
/// counted from the end.
int64_t ClampBound(int64_t bound, int64_t size, int64_t least, int64_t most) {
  if (bound < 0) bound = std::max(bound, -size - 1) + size;
  return std::clamp(bound, least, most);
}

/// Returns whether `end` means a slice without an end bound. The greatest numbers of i32 and i64
/// have this meaning.
bool IsOpenEnd(int64_t end) {
  return end == std::numeric_limits<int64_t>::max() || end == std::numeric_limits<int32_t>::max();
}

/// Returns the slice with bounds clamped to the axis. A backward slice that starts before the axis
/// starts at the first element, as ONNX defines. In NumPy this slice is empty.
AxisSlice Normalised(AxisSlice slice, int64_t size) {
  if (size == 0) return {.step = slice.step > 0 ? 1 : -1};
  // A step larger than the axis selects at most one element, like a step of the axis's size.
  slice.step = std::clamp(slice.step, -size, size);
  if (slice.step > 0) {
    slice.start = ClampBound(slice.start, size, 0, size);
    slice.end = std::max(ClampBound(slice.end, size, 0, size), slice.start);
    return slice;
  }
  slice.start = ClampBound(slice.start, size, 0, size - 1);
  const int64_t end = IsOpenEnd(slice.end) ? -1 : ClampBound(slice.end, size, -1, size - 1);
  slice.end = std::min(end, slice.start);
  return slice;
}

Result<Operands> Slice(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const SliceLists lists, ReadSlice(node, x->rank()));
  std::vector<int64_t> starts(x->shape.size(), 0);
  std::vector<int64_t> ends = x->shape;
  std::vector<int64_t> steps(x->shape.size(), 1);
  bool whole = true;
  for (size_t i = 0; i < lists.axes.size(); ++i) {
    const auto axis = static_cast<size_t>(lists.axes[i]);
    TUNEC_ASSIGN(const int64_t size, node.Extent(x, lists.axes[i]));
    if (lists.steps[i] == 0) return Fail(ErrorCode::kInvalidArgument, "a step is 0");
    const AxisSlice slice = Normalised({lists.starts[i], lists.ends[i], lists.steps[i]}, size);
    starts[axis] = slice.start;
    ends[axis] = slice.end;
    steps[axis] = slice.step;
    whole = whole && slice.start == 0 && slice.end == size && slice.step == 1;
  }
  if (whole && !node.RetainsNoOps()) return Operands{x};
  return One(node.Emit(op, {x}, {{"starts", starts}, {"ends", ends}, {"steps", steps}}));
}

/// Returns the sizes of the parts: an attribute before opset 13, an input from then on. Without
/// sizes the parts are equal; from opset 18 the last ones may be smaller or empty.
Result<std::vector<int64_t>> PartSizes(const NodeContext& node, int64_t size) {
  if (node.HasInput(1)) return node.ConstantInts(1);
  if (node.HasAttribute("split")) return node.Ints("split", {});
  const auto outputs = static_cast<int64_t>(node.num_outputs());
  TUNEC_ASSIGN(const int64_t count, node.Int("num_outputs", outputs));
  if (count < 1 || count != outputs) {
    return Fail(ErrorCode::kParse, "num_outputs is {}, the node has {}", count, outputs);
  }
  const int64_t part = (size + count - 1) / count;
  if (node.version() < 18 && part * count != size) {
    return Fail(ErrorCode::kInvalidArgument, "axis of size {} does not split into {}", size, count);
  }
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < count; ++i) {
    sizes.push_back(std::clamp<int64_t>(size - i * part, 0, part));
  }
  return sizes;
}

Result<Operands> Split(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, x->rank()));
  const auto at = static_cast<size_t>(axis);
  TUNEC_ASSIGN(const int64_t extent, node.Extent(x, axis));
  TUNEC_ASSIGN(const std::vector<int64_t> sizes, PartSizes(node, extent));
  std::vector<int64_t> starts(x->shape.size(), 0);
  std::vector<int64_t> ends = x->shape;
  Operands outputs;
  for (const int64_t size : sizes) {
    if (size < 0 || size > extent - starts[at]) {
      return Fail(ErrorCode::kInvalidArgument, "parts exceed the axis of size {}", extent);
    }
    ends[at] = starts[at] + size;
    TUNEC_ASSIGN(const Operand part, node.Emit(op, {x}, {{"starts", starts}, {"ends", ends}}));
    outputs.push_back(part);
    starts[at] = ends[at];
  }
  if (starts[at] != extent) {
    return Fail(ErrorCode::kInvalidArgument, "parts cover {} of the axis of size {}", starts[at],
                extent);
  }
  return outputs;
}

/// Returns the pads at the start of each axis, then the pads at the end of each axis.
Result<std::vector<int64_t>> ReadPads(const NodeContext& node, int64_t rank) {
  if (node.version() < 11) return node.Ints("pads", {});
  TUNEC_ASSIGN(std::vector<int64_t> pads, node.ConstantInts(1));
  if (!node.HasInput(3)) return pads;
  TUNEC_ASSIGN(const std::vector<int64_t> axes, node.ConstantInts(3));
  if (pads.size() != 2 * axes.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} pads for {} axes", pads.size(), axes.size());
  }
  std::vector<int64_t> all(2 * static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    TUNEC_ASSIGN(const int64_t axis, NormalizeAxis(axes[i], rank));
    all[static_cast<size_t>(axis)] = pads[i];
    all[static_cast<size_t>(axis + rank)] = pads[i + axes.size()];
  }
  return all;
}

Result<Operands> Pad(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> pads, ReadPads(node, x->rank()));
  TUNEC_ASSIGN(const std::string mode, node.String("mode", "constant"));
  TUNEC_ASSIGN(double value, node.Float("value", 0));
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(value, node.ConstantFloat(2));
  }
  if (pads.size() != 2 * x->shape.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} pads, expected {}", pads.size(),
                2 * x->shape.size());
  }
  const bool is_nothing = std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; });
  if (is_nothing && !node.RetainsNoOps()) return Operands{x};
  return One(node.Emit(op, {x}, {{"pads", pads}, {"value", value}, {"mode", mode}}));
}

/// Imports CenterCropPad, which crops or pads axes around their middle.
Result<Operands> CenterCropPad(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> sizes, node.ConstantInts(1));
  TUNEC_ASSIGN(const std::vector<int64_t> axes, node.Ints("axes", AllAxes(x->rank())));
  if (sizes.size() != axes.size() || ElementCount(sizes) < 0) {
    return Fail(ErrorCode::kInvalidArgument, "{} sizes for {} axes", sizes.size(), axes.size());
  }
  Formula y(node, x);
  std::vector<int64_t> pads(2 * x->shape.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    TUNEC_ASSIGN(const int64_t axis, NormalizeAxis(axes[i], x->rank()));
    const auto at = static_cast<size_t>(axis);
    TUNEC_ASSIGN(const int64_t extent, node.Extent(x, axis));
    const int64_t more = sizes[i] - extent;
    const int64_t before = -more / 2;
    if (more < 0) y = y.Slice(axis, before, before + sizes[i]);
    if (more > 0) {
      pads[at] = more / 2;
      pads[at + x->shape.size()] = more - more / 2;
    }
  }
  if (std::ranges::any_of(pads, [](int64_t pad) { return pad > 0; })) {
    y = Apply(Op::kPad, {y}, {{"pads", pads}});
  }
  return Results({y});
}

/// Imports Trilu, which keeps a triangle of the last two axes. A constant mask selects between the
/// elements and 0.
Result<Operands> Trilu(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t upper, node.Int("upper", 1));
  int64_t k = 0;
  if (node.HasInput(1)) {
    TUNEC_ASSIGN(k, node.ConstantInt(1));
  }
  constexpr int64_t kMostMask = 1 << 26;
  TUNEC_ASSIGN(const int64_t rows, node.Extent(x, -2));
  TUNEC_ASSIGN(const int64_t columns, node.Extent(x, -1));
  if (rows * columns > kMostMask) {
    return Fail(ErrorCode::kUnsupported, "a matrix of {}x{} is too large", rows, columns);
  }
  Array mask(DataType::kBool, {rows, columns});
  for (int64_t at = 0; at < mask.size(); ++at) {
    // k may be any 64-bit number, so it is only compared, and nothing is added to it.
    const int64_t diagonal = at % columns - at / columns;
    mask.SetInt(at, upper != 0 ? diagonal >= k : diagonal <= k);
  }
  return One(node.Emit(Op::kWhere, {node.Constant(std::move(mask)), x, node.Scalar(0, x->type)}));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"CenterCropPad", 18, CenterCropPad, Op::kPad},
    {"Pad", 2, Pad, Op::kPad},
    {"Slice", 1, Slice, Op::kSlice},
    {"Split", 2, Split, Op::kSlice},
    {"Trilu", 14, Trilu},
});

}  // namespace

std::span<const Handler> SliceHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
