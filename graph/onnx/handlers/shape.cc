// Handlers of operators that move elements or change shapes, such as Concat and Reshape, and of
// Shape and Size.
#include <algorithm>
#include <array>

#include "graph/onnx/fold_sizes.h"
#include "graph/onnx/handlers/handlers.h"
#include "ir/size/prove_sizes.h"
#include "ir/size/size_text.h"

namespace tunec::onnx_import {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 48;

/// Replaces -1 by the remaining size and, unless `allow_zero`, 0 by x's dimension at this index.
Result<std::vector<Dim>> ResolveShape(std::vector<Dim> shape, const Operand& x, bool allow_zero) {
  const std::vector<Dim> given = shape;
  const auto fail = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, "cannot reshape [{}] to [{}]: {}", PrintList(x->shape),
                PrintList(given), why);
  };
  size_t rest = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == Dim(0) && !allow_zero) {
      if (i >= x->shape.size()) return fail("0 copies a dimension that the input does not have");
      shape[i] = x->shape.list()[i];
    } else if (shape[i] == Dim(-1)) {
      if (rest != shape.size()) return fail("-1 stands twice");
      rest = i;
    } else if (shape[i].AsConstant().value_or(0) < 0) {
      return fail("a dimension is negative");
    } else if (!shape[i].IsConstant() && !IsPositive(shape[i])) {
      const bool is_copied = i < x->shape.size() && x->shape.list()[i] == shape[i];
      if (is_copied || (allow_zero && ProveAtMost(0, shape[i], {}))) continue;
      return Fail(ErrorCode::kUnsupported, "the size {} may be 0 or negative", Print(shape[i]));
    }
  }
  const Dim elements = x->shape.Elements();
  if (rest != shape.size()) shape[rest] = 1;
  const Dim others = OperandShape(shape).Elements();
  if (!others.IsKnown() || others.AsConstant().value_or(0) > kMostElements)
    return fail("too many elements");
  if (rest != shape.size()) {
    const Dim left = Dim::Mod(elements, others);
    if (others == Dim(0) || left.AsConstant().value_or(0) != 0) return fail("no size for -1 fits");
    shape[rest] = Dim::FloorDiv(elements, others);
  } else if (!MayBeEqual({elements}, {others})) {
    return fail("element counts differ");
  }
  return shape;
}

Result<Operands> Reshape(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<Dim> requested, node.Sizes(1));
  TUNEC_ASSIGN(const int64_t allow_zero, node.Int("allowzero", 0));
  TUNEC_ASSIGN(const auto shape, ResolveShape(requested, x, allow_zero != 0));
  return One(node.Reshape(x, shape));
}

Result<Operands> Flatten(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(int64_t axis, node.Int("axis", 1));
  if (axis < -x->rank() || axis > x->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "axis is {}, expected -{} to {}", axis, x->rank(),
                x->rank());
  }
  if (axis < 0) axis += x->rank();
  const auto at = static_cast<size_t>(axis);
  return One(node.Reshape(x, {x->shape.Elements(0, at), x->shape.Elements(at)}));
}

/// Returns the axes, an attribute before opset 13 and an input from then on. Returns an empty list
/// if the node omits the axes.
Result<std::vector<int64_t>> Axes(const NodeContext& node) {
  if (node.HasInput(1)) return node.ConstantInts(1);
  return node.Ints("axes", {});
}

Result<Operands> Squeeze(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> given, Axes(node));
  TUNEC_ASSIGN(const std::vector<int64_t> axes, NormalizeAxes(given, x->rank()));
  const bool all = axes.empty() && !node.HasInput(1) && !node.HasAttribute("axes");
  // A reshape to the other sizes assumes that a named size is 1, if no other size can be 0.
  const bool has_elements = std::ranges::all_of(x->shape.list(), IsPositive);
  std::vector<Dim> shape;
  for (int64_t axis = 0; axis < x->rank(); ++axis) {
    TUNEC_ASSIGN(const Dim size, node.DimOf(x, axis));
    if (std::ranges::binary_search(axes, axis)) {
      if (has_elements && MayBeEqual({size}, {1})) continue;
      TUNEC_ASSIGN(const bool is_one, NodeContext::AreEqual(size, 1));
      if (is_one) continue;
      return Fail(ErrorCode::kInvalidArgument, "axis {} has size {}, expected 1", axis,
                  Print(size));
    }
    bool is_one = false;
    if (all) {
      TUNEC_ASSIGN(is_one, node.AreEqual(size, 1));
    }
    if (!is_one) shape.push_back(size);
  }
  return One(node.Reshape(x, shape));
}

Result<Operands> Unsqueeze(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> given, Axes(node));
  const int64_t rank = x->rank() + static_cast<int64_t>(given.size());
  TUNEC_ASSIGN(const std::vector<int64_t> axes, NormalizeAxes(given, rank));
  std::vector<Dim> shape = x->shape;
  for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return One(node.Reshape(x, shape));
}

Result<Operands> Transpose(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  std::vector<int64_t> reversed = AllAxes(x->rank());
  std::ranges::reverse(reversed);
  TUNEC_ASSIGN(std::vector<int64_t> perm, node.Ints("perm", reversed));
  for (int64_t& axis : perm) {
    TUNEC_ASSIGN(axis, NormalizeAxis(axis, x->rank()));
  }
  return One(node.Transpose(x, std::move(perm)));
}

/// Imports Expand. The result has the broadcast of the input's shape and the given shape.
Result<Operands> Expand(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(std::vector<Dim> shape, node.Sizes(1));
  if (shape.size() < x->shape.size())
    shape.insert(shape.begin(), x->shape.size() - shape.size(), 1);
  const size_t lead = shape.size() - x->shape.size();
  for (size_t i = lead; i < shape.size(); ++i) {
    const Dim& own = x->shape.list()[i - lead];
    if (shape[i] == Dim(1)) shape[i] = own;
    if (!own.IsConstant() || own == Dim(1)) continue;  // inference records what is assumed
    TUNEC_ASSIGN(const bool are_equal, NodeContext::AreEqual(own, shape[i]));
    if (are_equal) shape[i] = own;
  }
  if (x->constant && x->constant->size() == 1) return One(node.Full(shape, *x->constant));
  return One(node.Expand(x, std::move(shape)));
}

Result<Operands> Tile(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(std::vector<Dim> repeats, node.Sizes(1));
  return One(node.Emit(op, {x}, {{"repeats", SizesAttribute(std::move(repeats))}}));
}

Result<Operands> Concat(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(Operands inputs, node.Inputs());
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 1, inputs.front()->rank()));
  if (inputs.size() == 1) return inputs;
  return One(node.Emit(op, inputs, {{"axis", axis}}));
}

struct Blocks {
  Operand x;
  Dim n;
  int64_t c;
  Dim h, w;
  int64_t size;
};

Result<Blocks> ReadBlocks(const NodeContext& node) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t size, node.Int("blocksize", 0));
  TUNEC_ASSIGN(const auto dims, node.Dims<4>(x));
  TUNEC_ASSIGN(const int64_t channels, node.Extent(x, 1));
  if (size < 1 || size > 4096) {
    return Fail(ErrorCode::kInvalidArgument, "blocksize is {}, expected 1 to 4096", size);
  }
  return Blocks{x, dims[0], channels, dims[2], dims[3], size};
}

/// Returns whether the depth is the fastest part of a channel's number (DCR), not the slowest
/// (CRD).
Result<bool> DepthIsLast(const NodeContext& node) {
  TUNEC_ASSIGN(const std::string mode, node.Choice("mode", {"DCR", "CRD"}));
  return mode == "DCR";
}

Result<Operands> DepthToSpace(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Blocks b, ReadBlocks(node));
  TUNEC_ASSIGN(const bool depth_last, DepthIsLast(node));
  if (b.c % (b.size * b.size) != 0) {
    return Fail(ErrorCode::kInvalidArgument, "{} channels, expected a multiple of {}", b.c,
                b.size * b.size);
  }
  const int64_t depth = b.c / (b.size * b.size);
  TUNEC_ASSIGN(
      const Operand split,
      node.Reshape(b.x, depth_last ? std::vector<Dim>{b.n, b.size, b.size, depth, b.h, b.w}
                                   : std::vector<Dim>{b.n, depth, b.size, b.size, b.h, b.w}));
  TUNEC_ASSIGN(const Operand moved,
               node.Transpose(split, depth_last ? std::vector<int64_t>{0, 3, 4, 1, 5, 2}
                                                : std::vector<int64_t>{0, 1, 4, 2, 5, 3}));
  return One(node.Reshape(moved, {b.n, depth, b.h * b.size, b.w * b.size}));
}

/// Imports SpaceToDepth. Before opset 28 the node has no mode, and the depth is last (DCR).
Result<Operands> SpaceToDepth(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Blocks b, ReadBlocks(node));
  TUNEC_ASSIGN(const bool depth_last, DepthIsLast(node));
  const auto divides = [&](const Dim& size) { return MayBeEqual({Dim::Mod(size, b.size)}, {0}); };
  if (!divides(b.h) || !divides(b.w)) {
    return Fail(ErrorCode::kInvalidArgument, "image is {}x{}, expected multiples of {}",
                DimText(b.h), DimText(b.w), b.size);
  }
  const Dim h = Dim::FloorDiv(b.h, b.size);
  const Dim w = Dim::FloorDiv(b.w, b.size);
  TUNEC_ASSIGN(const Operand split, node.Reshape(b.x, {b.n, b.c, h, b.size, w, b.size}));
  TUNEC_ASSIGN(const Operand moved,
               node.Transpose(split, depth_last ? std::vector<int64_t>{0, 3, 5, 1, 2, 4}
                                                : std::vector<int64_t>{0, 1, 3, 5, 2, 4}));
  return One(node.Reshape(moved, {b.n, b.c * b.size * b.size, h, w}));
}

/// Imports Shape. From opset 15 the attributes start and end select axes, as in a Python slice.
Result<Operands> Shape(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  const int64_t rank = x->rank();
  TUNEC_ASSIGN(int64_t start, node.Int("start", 0));
  TUNEC_ASSIGN(int64_t end, node.Int("end", rank));
  const auto normalize = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  start = normalize(std::max(start, -rank));
  end = std::max(start, normalize(std::max(end, -rank)));
  return Operands{
      node.Sizes64(x->shape.Part(static_cast<size_t>(start), static_cast<size_t>(end)))};
}

Result<Operands> Size(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  const Dim elements = x->shape.Elements();
  if (!elements.IsKnown())
    return Fail(ErrorCode::kUnsupported, "{}, expected a shorter expression of its size",
                node.Describe(x));
  return One(node.Reshape(node.Sizes64({elements}), {}));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Concat", 4, Concat, Op::kConcat},
    {"DepthToSpace", 1, DepthToSpace},
    {"Expand", 8, Expand},
    {"Flatten", 1, Flatten},
    {"Reshape", 5, Reshape},
    {"Shape", 1, Shape},
    {"Size", 1, Size},
    {"SpaceToDepth", 1, SpaceToDepth},
    {"Squeeze", 1, Squeeze},
    {"Tile", 6, Tile, Op::kTile},
    {"Transpose", 1, Transpose},
    {"Unsqueeze", 1, Unsqueeze},
});

}  // namespace

std::span<const Handler> ShapeHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
