// Import of convolutions, and of Col2Im as a transposed convolution.
#include <algorithm>
#include <array>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"
#include "graph/onnx/handlers/window.h"

namespace tunec::onnx_import {
namespace {

Operands WithBias(const NodeContext& node, Operand x, Operand w) {
  Operands operands{std::move(x), std::move(w)};
  if (node.HasInput(2)) operands.push_back(node.OptionalInput(2));
  return operands;
}

struct ConvOperands {
  Operand x;
  Operand w;
  std::vector<Dim> sizes;  // sizes of x's spatial axes
  Window window;
  int64_t group = 1;
};

Result<ConvOperands> Read(const NodeContext& node) {
  ConvOperands conv;
  TUNEC_ASSIGN(conv.x, node.Input(0));
  TUNEC_ASSIGN(conv.w, node.Input(1));
  TUNEC_ASSIGN(conv.sizes, SpatialSizes(conv.x));
  if (conv.w->rank() != conv.x->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "filter has rank {}, expected the input's rank {}",
                conv.w->rank(), conv.x->rank());
  }
  TUNEC_ASSIGN(conv.group, node.Int("group", 1));
  TUNEC_ASSIGN(const std::vector<int64_t> filter, NodeContext::Numbers(conv.w->shape.Part(2)));
  TUNEC_ASSIGN(conv.window, ReadWindow(node, filter));
  return conv;
}

Attributes AttributesOf(const Window& window, int64_t group) {
  return {{"strides", window.strides},
          {"pads", SizesAttribute(window.pads)},
          {"dilations", window.dilations},
          {"group", group}};
}

Result<Operands> Conv(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(ConvOperands conv, Read(node));
  TUNEC_RETURN_IF_ERROR(ResolveAutoPad(node, conv.sizes, conv.window));
  return One(node.Emit(op, WithBias(node, conv.x, conv.w), AttributesOf(conv.window, conv.group)));
}

Result<Operands> ConvInteger(const NodeContext& node, Op) {
  TUNEC_ASSIGN(ConvOperands conv, Read(node));
  TUNEC_RETURN_IF_ERROR(ResolveAutoPad(node, conv.sizes, conv.window));
  // Subtracts the zero points first, so that padding has the value of x's zero point.
  std::array<Operand, 2> operands{conv.x, conv.w};
  for (size_t i = 0; i < 2; ++i) {
    TUNEC_ASSIGN(operands[i], node.Cast(operands[i], DataType::kI32));
    if (!node.HasInput(i + 2)) continue;
    TUNEC_ASSIGN(Operand zero, node.Cast(node.OptionalInput(i + 2), DataType::kI32));
    if (i == 1 && zero->rank() == 1) {  // one zero point per output channel
      std::vector<Dim> shape(static_cast<size_t>(conv.w->rank()), 1);
      TUNEC_ASSIGN(shape.front(), node.DimOf(zero, 0));
      TUNEC_ASSIGN(zero, node.Reshape(zero, shape));
    }
    TUNEC_ASSIGN(operands[i], node.Emit(Op::kSub, {operands[i], zero}));
  }
  return One(
      node.Emit(Op::kConv, {operands[0], operands[1]}, AttributesOf(conv.window, conv.group)));
}

/// Checks that sizes from an attribute are 0 to 2^48. Then sums of sizes do not overflow.
Status RequireSizes(std::string_view name, const std::vector<int64_t>& sizes) {
  constexpr int64_t kMostSize = int64_t{1} << 48;  // no tensor has more elements
  for (const int64_t size : sizes) {
    if (size >= 0 && size <= kMostSize) continue;
    return Fail(ErrorCode::kInvalidArgument, "{} holds {}, expected 0 to {}", name, size,
                kMostSize);
  }
  return {};
}

/// Sets pads so that the output has the sizes `output_shape`. If pads would be negative, output
/// padding is added at the end. Fails with kUnsupported if output padding depends on named sizes.
Status PadTo(const std::vector<Dim>& output_shape, bool is_upper, const std::vector<Dim>& sizes,
             std::vector<int64_t>& output_padding, Window& window) {
  const size_t rank = window.rank();
  if (output_shape.size() != rank) {
    return Fail(ErrorCode::kInvalidArgument, "output_shape has {} sizes, expected {}",
                output_shape.size(), rank);
  }
  for (size_t i = 0; i < rank; ++i) {
    const Dim full = (sizes[i] - 1) * window.strides[i] + (output_padding[i] + window.Span(i));
    TUNEC_ASSIGN(const std::vector<int64_t> more,
                 NodeContext::Numbers({MaxOf(0, output_shape[i] - full)}));
    output_padding[i] += more.front();
    window.SetPads(i, MaxOf(0, full - output_shape[i]), is_upper);
  }
  return {};
}

Result<Operands> ConvTranspose(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(ConvOperands conv, Read(node));
  Window& window = conv.window;
  TUNEC_ASSIGN(const std::string mode,
               node.Choice("auto_pad", {"NOTSET", "", "VALID", "SAME_UPPER", "SAME_LOWER"}));
  const std::vector<int64_t> none(window.rank(), 0);
  TUNEC_ASSIGN(std::vector<int64_t> output_padding, node.Ints("output_padding", none));
  TUNEC_ASSIGN(const std::vector<int64_t> output_shape, node.Ints("output_shape", {}));
  if (output_padding.size() != window.rank()) {
    return Fail(ErrorCode::kInvalidArgument, "output_padding has {} values, expected {}",
                output_padding.size(), window.rank());
  }
  TUNEC_RETURN_IF_ERROR(RequireSizes("output_padding", output_padding));
  TUNEC_RETURN_IF_ERROR(RequireSizes("output_shape", output_shape));
  if (mode == "VALID") window.pads.assign(2 * window.rank(), 0);
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (same || !output_shape.empty()) {
    std::vector<Dim> shape(output_shape.begin(), output_shape.end());
    for (size_t i = 0; output_shape.empty() && i < conv.sizes.size(); ++i)
      shape.push_back(conv.sizes[i] * window.strides[i]);
    TUNEC_RETURN_IF_ERROR(PadTo(shape, mode == "SAME_UPPER", conv.sizes, output_padding, window));
  }
  Attributes attributes = AttributesOf(window, conv.group);
  attributes.emplace("output_padding", output_padding);
  return One(node.Emit(op, WithBias(node, conv.x, conv.w), std::move(attributes)));
}

/// Returns the filter [channels * taps, 1, kernel] that writes tap t of every channel's block at
/// position t.
Formula BlockFilter(const NodeContext& node, DataType type, int64_t channels,
                    const std::vector<int64_t>& kernel) {
  const int64_t taps = Product(kernel, 0, kernel.size());
  std::vector<int64_t> shape{channels * taps, 1};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  Array filter(type, shape);
  for (int64_t i = 0; i < filter.size(); ++i) {
    const bool here = i % taps == i / taps % taps;
    IsFloat(type) ? filter.SetDouble(i, here ? 1 : 0) : filter.SetInt(i, here ? 1 : 0);
  }
  return Constant(node, std::move(filter));
}

/// Largest number of elements of a block filter.
constexpr int64_t kMostFilter = 1 << 26;

/// Imports Col2Im, which adds blocks where they overlap. It is a transposed convolution with the
/// block filter.
Result<Operands> Col2Im(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const std::vector<int64_t> image, node.ConstantInts(1));
  TUNEC_ASSIGN(const std::vector<int64_t> block, node.ConstantInts(2));
  TUNEC_ASSIGN(const Window window, ReadWindow(node, block));
  const size_t rank = window.rank();
  const int64_t taps = ElementCount(block);
  TUNEC_ASSIGN(const auto dims, node.Dims<3>(x));
  TUNEC_ASSIGN(const int64_t rows, node.Extent(x, 1));
  const auto is_size = [](int64_t size) { return size >= 0 && size <= kMostWindow; };
  if (image.size() != rank || rank > 3 || taps < 1 || rows % taps != 0 ||
      !std::ranges::all_of(image, is_size)) {
    return Fail(ErrorCode::kInvalidArgument, "input, image_shape and block_shape do not fit");
  }
  if (rows > kMostFilter / taps) {
    return Fail(ErrorCode::kUnsupported, "{} rows in blocks of {}, expected at most {} in all",
                rows, taps, kMostFilter);
  }
  TUNEC_ASSIGN(const std::vector<int64_t> pads, NodeContext::Numbers(window.pads));
  std::vector<Dim> shape{dims[0], rows};
  std::vector<int64_t> output_padding;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t room = image[i] + pads[i] + pads[i + rank] - window.Span(i);
    if (room < 0) return Fail(ErrorCode::kInvalidArgument, "a block is larger than the image");
    shape.emplace_back(room / window.strides[i] + 1);
    output_padding.push_back(room % window.strides[i]);
  }
  if (!MayBeEqual({OperandShape(shape).Elements(2)}, {dims[2]})) {
    return Fail(ErrorCode::kInvalidArgument, "{} blocks do not cover the image", DimText(dims[2]));
  }
  const int64_t channels = rows / taps;
  Attributes attributes = AttributesOf(window, channels);
  attributes.emplace("output_padding", output_padding);
  return Results(
      {Apply(op, {Formula(node, x).Reshape(shape), BlockFilter(node, x->type, channels, block)},
             std::move(attributes))});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Col2Im", 18, Col2Im, Op::kConvTranspose},
    {"Conv", 1, Conv, Op::kConv},
    {"ConvInteger", 10, ConvInteger},
    {"ConvTranspose", 1, ConvTranspose, Op::kConvTranspose},
});

}  // namespace

std::span<const Handler> ConvHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
