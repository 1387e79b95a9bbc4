// Handlers of operators that move elements or change shapes, such as Concat and Reshape, and of
// Shape and Size.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

/// Replaces -1 by the remaining size and, unless `allow_zero`, 0 by x's dimension at this index.
Result<std::vector<int64_t>> ResolveShape(std::vector<int64_t> shape, const Operand& x,
                                          bool allow_zero) {
  const std::vector<int64_t> given = shape;
  const auto fail = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, "cannot reshape [{}] to [{}]: {}",
                fmt::join(x->shape.list(), ","), fmt::join(given, ","), why);
  };
  size_t rest = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (i >= x->shape.size()) return fail("0 copies a dimension that the input does not have");
      shape[i] = x->shape.list()[i];
    } else if (shape[i] == -1) {
      if (rest != shape.size()) return fail("-1 stands twice");
      rest = i;
    } else if (shape[i] < 0) {
      return fail("a dimension is negative");
    }
  }
  const int64_t elements = Product(x->shape, 0, x->shape.size());
  if (rest != shape.size()) shape[rest] = 1;
  const int64_t others = ElementCount(shape);
  if (others < 0) return fail("too many elements");
  if (rest != shape.size()) {
    if (others == 0 || elements % others != 0) return fail("no size for -1 fits");
    shape[rest] = elements / others;
  } else if (others != elements) {
    return fail("element counts differ");
  }
  return shape;
}

Result<Operands> Reshape(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> requested, node.ConstantInts(1));
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
  return One(node.Reshape(x, {Product(x->shape, 0, at), Product(x->shape, at, x->shape.size())}));
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
  std::vector<int64_t> shape;
  for (int64_t axis = 0; axis < x->rank(); ++axis) {
    TUNEC_ASSIGN(const int64_t size, node.Extent(x, axis));
    const bool named = std::ranges::binary_search(axes, axis);
    if (named && size != 1) {
      return Fail(ErrorCode::kInvalidArgument, "axis {} has size {}, expected 1", axis, size);
    }
    if (!named && !(all && size == 1)) shape.push_back(size);
  }
  return One(node.Reshape(x, shape));
}

Result<Operands> Unsqueeze(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> given, Axes(node));
  const int64_t rank = x->rank() + static_cast<int64_t>(given.size());
  TUNEC_ASSIGN(const std::vector<int64_t> axes, NormalizeAxes(given, rank));
  std::vector<int64_t> shape = x->shape;
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
  TUNEC_ASSIGN(std::vector<int64_t> shape, node.ConstantInts(1));
  if (shape.size() < x->shape.size())
    shape.insert(shape.begin(), x->shape.size() - shape.size(), 1);
  const size_t lead = shape.size() - x->shape.size();
  for (size_t i = lead; i < shape.size(); ++i) {
    if (shape[i] == 1) shape[i] = x->shape.list()[i - lead];
  }
  if (x->constant && x->constant->size() == 1) return One(node.Full(shape, *x->constant));
  return One(node.Expand(x, std::move(shape)));
}

Result<Operands> Tile(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> repeats, node.ConstantInts(1));
  return One(node.Emit(op, {x}, {{"repeats", repeats}}));
}

Result<Operands> Concat(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(Operands inputs, node.Inputs());
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 1, inputs.front()->rank()));
  if (inputs.size() == 1) return inputs;
  return One(node.Emit(op, inputs, {{"axis", axis}}));
}

struct Blocks {
  Operand x;
  int64_t n, c, h, w, size;
};

Result<Blocks> ReadBlocks(const NodeContext& node) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t size, node.Int("blocksize", 0));
  TUNEC_ASSIGN(const auto extents, node.Extents<4>(x));
  if (size < 1 || size > 4096) {
    return Fail(ErrorCode::kInvalidArgument, "blocksize is {}, expected 1 to 4096", size);
  }
  return Blocks{x, extents[0], extents[1], extents[2], extents[3], size};
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
  TUNEC_ASSIGN(const Operand split,
               node.Reshape(b.x, depth_last ? std::vector{b.n, b.size, b.size, depth, b.h, b.w}
                                            : std::vector{b.n, depth, b.size, b.size, b.h, b.w}));
  TUNEC_ASSIGN(const Operand moved,
               node.Transpose(split, depth_last ? std::vector<int64_t>{0, 3, 4, 1, 5, 2}
                                                : std::vector<int64_t>{0, 1, 4, 2, 5, 3}));
  return One(node.Reshape(moved, {b.n, depth, b.h * b.size, b.w * b.size}));
}

/// Imports SpaceToDepth. Before opset 28 the node has no mode, and the depth is last (DCR).
Result<Operands> SpaceToDepth(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Blocks b, ReadBlocks(node));
  TUNEC_ASSIGN(const bool depth_last, DepthIsLast(node));
  if (b.h % b.size != 0 || b.w % b.size != 0) {
    return Fail(ErrorCode::kInvalidArgument, "image is {}x{}, expected multiples of {}", b.h, b.w,
                b.size);
  }
  const int64_t h = b.h / b.size;
  const int64_t w = b.w / b.size;
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
  return Operands{node.Ints64(x->shape.Part(static_cast<size_t>(start), static_cast<size_t>(end)))};
}

Result<Operands> Size(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  Array size(DataType::kI64, {});
  size.SetInt(0, Product(x->shape, 0, x->shape.size()));
  return Operands{node.Constant(std::move(size))};
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
