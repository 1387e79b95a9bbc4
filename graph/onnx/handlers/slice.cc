// Handlers of Slice, Split, Pad, CenterCropPad and Trilu.
#include <algorithm>
#include <array>
#include <limits>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"
#include "ir/size/prove_sizes.h"
#include "ir/size/size_condition.h"
#include "ir/size/size_text.h"

namespace tunec::onnx_import {
namespace {

using Kind = SizeCondition::Kind;

struct SliceLists {
  std::vector<Dim> starts;
  std::vector<Dim> ends;
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
};

std::vector<Dim> ToDims(const std::vector<int64_t>& numbers) {
  std::vector<Dim> dims;
  for (const int64_t number : numbers) dims.push_back(FixedDim(number));
  return dims;
}

/// Reads the lists of Slice, which are attributes before opset 10 and inputs from then on.
Result<SliceLists> ReadSlice(const NodeContext& node, int64_t rank) {
  SliceLists lists;
  if (node.version() < 10) {
    TUNEC_ASSIGN(const std::vector<int64_t> starts, node.Ints("starts", {}));
    TUNEC_ASSIGN(const std::vector<int64_t> ends, node.Ints("ends", {}));
    TUNEC_ASSIGN(lists.axes, node.Ints("axes", {}));
    lists.starts = ToDims(starts);
    lists.ends = ToDims(ends);
  } else {
    TUNEC_ASSIGN(lists.starts, node.Sizes(1));
    TUNEC_ASSIGN(lists.ends, node.Sizes(2));
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
  Dim start = 0;
  Dim end = 0;
  int64_t step = 1;
};

/// Returns the greatest of `least` and the smallest of `bound` and `most`.
Dim Clamped(const Dim& bound, const Dim& least, const Dim& most) {
  return MaxOf(least, MinOf(bound, most));
}

/// Returns a bound counted from the front. A negative bound is counted from the end. Bounds beyond
/// 2^48 stay outside of the axis. Fails with kUnsupported if the bound's sign depends on
/// named sizes.
Result<Dim> PositionOf(const Dim& bound, const Dim& size) {
  constexpr int64_t kHuge = int64_t{1} << 48;
  if (bound.IsConstant() && bound.Value() > kHuge) return size;
  if (bound.IsConstant() && bound.Value() < -kHuge) return Dim(-1);
  if (ProveAtMost(0, bound, {})) return bound;
  if (ProveAtMost(bound, -1, {})) return size + bound;
  return Fail(ErrorCode::kUnsupported, "the sign of the bound {} is not known", Print(bound));
}

/// Returns whether `end` means a slice without an end bound. The greatest numbers of i32 and i64
/// have this meaning.
bool IsOpenEnd(const Dim& end) {
  return end == FixedDim(std::numeric_limits<int64_t>::max()) ||
         end == Dim(std::numeric_limits<int32_t>::max());
}

/// Returns the slice with bounds clamped to the axis. A backward slice that starts before the axis
/// starts at the first element, as ONNX defines. In NumPy this slice is empty. Bounds that depend
/// on named sizes are assumed to be in the axis, if inference records this assumption.
Result<AxisSlice> Normalised(const AxisSlice& slice, const Dim& size) {
  if (size == Dim(0)) return AxisSlice{.step = slice.step > 0 ? 1 : -1};
  AxisSlice result{.step = slice.step};
  const bool is_fixed = size.IsConstant();
  // A step larger than the axis selects at most one element, like a step of the axis's size.
  if (is_fixed) result.step = std::clamp(slice.step, -size.Value(), size.Value());
  TUNEC_ASSIGN(const Dim start, PositionOf(slice.start, size));
  if (slice.step > 0) {
    TUNEC_ASSIGN(const Dim end, PositionOf(slice.end, size));
    result.start = start.IsConstant() && is_fixed ? Clamped(start, 0, size) : start;
    result.end = end.IsConstant() ? Clamped(end, 0, size) : end;
    if (result.end.IsConstant() && result.start.IsConstant())
      result.end = Dim::Max(result.end, result.start);
    return result;
  }
  const bool is_last = slice.start == Dim(-1);
  result.start = is_last ? start : Clamped(start, 0, size - 1);
  if (IsOpenEnd(slice.end)) {
    result.end = -1;
    return result;
  }
  TUNEC_ASSIGN(const Dim end, PositionOf(slice.end, size));
  result.end = Clamped(Clamped(end, -1, size - 1), -1, result.start);
  return result;
}

Result<Operands> Slice(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const SliceLists lists, ReadSlice(node, x->rank()));
  std::vector<Dim> starts(x->shape.size(), 0);
  std::vector<Dim> ends = x->shape;
  std::vector<int64_t> steps(x->shape.size(), 1);
  bool whole = true;
  for (size_t i = 0; i < lists.axes.size(); ++i) {
    const auto axis = static_cast<size_t>(lists.axes[i]);
    TUNEC_ASSIGN(const Dim size, node.DimOf(x, lists.axes[i]));
    if (lists.steps[i] == 0) return Fail(ErrorCode::kInvalidArgument, "a step is 0");
    TUNEC_ASSIGN(const AxisSlice slice,
                 Normalised({lists.starts[i], lists.ends[i], lists.steps[i]}, size));
    starts[axis] = slice.start;
    ends[axis] = slice.end;
    steps[axis] = slice.step;
    whole = whole && slice.start == Dim(0) && slice.end == size && slice.step == 1;
  }
  if (whole && !node.RetainsNoOps()) return Operands{x};
  return One(node.Emit(op, {x},
                       {{"starts", SizesAttribute(std::move(starts))},
                        {"ends", SizesAttribute(std::move(ends))},
                        {"steps", steps}}));
}

/// Returns the sizes of the parts: an attribute before opset 13, an input from then on. Without
/// sizes the parts are equal; from opset 18 the last ones may be smaller or empty.
Result<std::vector<Dim>> PartSizes(const NodeContext& node, const Dim& size) {
  if (node.HasInput(1)) return node.Sizes(1);
  if (node.HasAttribute("split")) {
    TUNEC_ASSIGN(const std::vector<int64_t> split, node.Ints("split", {}));
    return ToDims(split);
  }
  const auto outputs = static_cast<int64_t>(node.num_outputs());
  TUNEC_ASSIGN(const int64_t count, node.Int("num_outputs", outputs));
  if (count < 1 || count != outputs) {
    return Fail(ErrorCode::kParse, "num_outputs is {}, the node has {}", count, outputs);
  }
  const Dim part = Dim::CeilDiv(size, count);
  const bool are_equal = MayBeEqual({part * count}, {size});
  if (node.version() < 18 && !are_equal) {
    return Fail(ErrorCode::kInvalidArgument, "axis of size {} does not split into {}", Print(size),
                count);
  }
  if (node.version() < 18) return std::vector<Dim>(static_cast<size_t>(count), part);
  std::vector<Dim> sizes;
  for (int64_t i = 0; i < count; ++i) sizes.push_back(Clamped(size - part * i, 0, part));
  return sizes;
}

Result<Operands> Split(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, x->rank()));
  const auto at = static_cast<size_t>(axis);
  TUNEC_ASSIGN(const Dim extent, node.DimOf(x, axis));
  TUNEC_ASSIGN(const std::vector<Dim> sizes, PartSizes(node, extent));
  std::vector<Dim> starts(x->shape.size(), 0);
  std::vector<Dim> ends = x->shape;
  Operands outputs;
  for (const Dim& size : sizes) {
    if (Decide({Kind::kAtMost, 0, size}, {}) == Decision::kFalse ||
        Decide({Kind::kAtMost, starts[at] + size, extent}, {}) == Decision::kFalse) {
      return Fail(ErrorCode::kInvalidArgument, "parts exceed the axis of size {}", Print(extent));
    }
    const Dim end = starts[at] + size;
    // The last part ends with the axis. If its size may differ, a reshape assumes equal sizes.
    const bool is_assumed =
        &size == &sizes.back() && Decide({Kind::kEqual, end, extent}, {}) == Decision::kOpen;
    ends[at] = is_assumed ? extent : end;
    TUNEC_ASSIGN(
        Operand part,
        node.Emit(op, {x}, {{"starts", SizesAttribute(starts)}, {"ends", SizesAttribute(ends)}}));
    if (is_assumed) {
      std::vector<Dim> shape = part->shape;
      shape[at] = size;
      TUNEC_ASSIGN(part, node.Reshape(part, shape));
    }
    outputs.push_back(part);
    starts[at] = end;
  }
  if (!MayBeEqual({starts[at]}, {extent})) {
    return Fail(ErrorCode::kInvalidArgument, "parts cover {} of the axis of size {}",
                Print(starts[at]), Print(extent));
  }
  return outputs;
}

/// Returns the pads at the start of each axis, then the pads at the end of each axis.
Result<std::vector<Dim>> ReadPads(const NodeContext& node, int64_t rank) {
  if (node.version() < 11) {
    TUNEC_ASSIGN(const std::vector<int64_t> pads, node.Ints("pads", {}));
    return ToDims(pads);
  }
  TUNEC_ASSIGN(std::vector<Dim> pads, node.Sizes(1));
  if (!node.HasInput(3)) return pads;
  TUNEC_ASSIGN(const std::vector<int64_t> axes, node.ConstantInts(3));
  if (pads.size() != 2 * axes.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} pads for {} axes", pads.size(), axes.size());
  }
  std::vector<Dim> all(2 * static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    TUNEC_ASSIGN(const int64_t axis, NormalizeAxis(axes[i], rank));
    all[static_cast<size_t>(axis)] = pads[i];
    all[static_cast<size_t>(axis + rank)] = pads[i + axes.size()];
  }
  return all;
}

Result<Operands> Pad(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(std::vector<Dim> pads, ReadPads(node, x->rank()));
  TUNEC_ASSIGN(const std::string mode, node.String("mode", "constant"));
  TUNEC_ASSIGN(double value, node.Float("value", 0));
  if (node.HasInput(2)) {
    TUNEC_ASSIGN(value, node.ConstantFloat(2));
  }
  if (pads.size() != 2 * x->shape.size()) {
    return Fail(ErrorCode::kInvalidArgument, "{} pads, expected {}", pads.size(),
                2 * x->shape.size());
  }
  const bool is_nothing = std::ranges::all_of(pads, [](const Dim& pad) { return pad == Dim(0); });
  if (is_nothing && !node.RetainsNoOps()) return Operands{x};
  return One(node.Emit(
      op, {x}, {{"pads", SizesAttribute(std::move(pads))}, {"value", value}, {"mode", mode}}));
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
  TUNEC_ASSIGN(const Dim row_count, node.DimOf(x, -2));
  TUNEC_ASSIGN(const Dim column_count, node.DimOf(x, -1));
  if (!row_count.IsConstant() || !column_count.IsConstant()) {
    // The sum row + k is exact, because sizes and a reasonable k are far from 2^63.
    constexpr int64_t kMostK = int64_t{1} << 60;
    const Dim first = std::clamp(k, -kMostK, kMostK);
    const Formula row = Iota(node, first, row_count + first).Unsqueeze(1);
    const Formula column = Iota(node, 0, column_count);
    const Formula kept = upper != 0 ? LessOrEqual(row, column) : LessOrEqual(column, row);
    const Formula data(node, x);
    return Results({Where(kept, data, data.Number(0))});
  }
  constexpr int64_t kMostMask = 1 << 26;
  const int64_t rows = row_count.Value(), columns = column_count.Value();
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
