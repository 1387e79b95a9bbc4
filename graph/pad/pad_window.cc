// Rules that pad convolutions and pools. A window reads the same value at positions that are not
// exact as outside of the operand.
#include <algorithm>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// The motion of a window along one spatial axis, with the pads at both ends.
struct Slide {
  SizeExpr begin, end;
  int64_t padded = 0;  // total pads in the bucket's graph
};

/// Returns the motion along each spatial axis.
std::vector<Slide> SlidesOf(const PaddedNode& node) {
  const std::vector<SizeExpr> pads = node.Sizes("pads");
  const std::vector<int64_t>& padded = node.bucket().Ints("pads");
  const size_t axes = pads.size() / 2;
  std::vector<Slide> slides;
  for (size_t a = 0; a < axes; ++a)
    slides.push_back({pads[a], pads[axes + a], padded[a] + padded[axes + a]});
  return slides;
}

/// Returns the open spatial axes, and marks them as mixed.
Result<std::set<size_t>> OpenSpatialAxes(PaddedNode& node) {
  std::set<size_t> open;
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    const Axis& axis = node.axis(0, a);
    if (!axis.IsOpen()) continue;
    if (!axis.IsPrefix()) return node.Reject("its windows move along several dimensions");
    open.insert(a);
    node.padder().Mix(axis);
  }
  return open;
}

Result<Axes> WindowAxes(PaddedNode& node, const Axis& channels, const std::set<size_t>& open) {
  Axes axes = {node.axis(0, 0), channels};
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    axes.push_back(node.NewAxis(a));
    if (axes[a].IsOpen() && !open.contains(a)) return node.Reject("its pads depend on the sizes");
  }
  return axes;
}

/// Returns the axes in `open` that may have pads at the end.
std::set<size_t> PaddedAtEnd(const std::vector<Slide>& slides, const std::set<size_t>& open) {
  std::set<size_t> padded;
  for (const size_t a : open)
    if (slides[a - 2].end != 0) padded.insert(a);
  return padded;
}

/// Returns the frame for an axis whose pads at the beginning depend on the size. The frame includes
/// the bucket's pads, so that windows on the frame have no pads along this axis.
Result<Frame> FrameFor(PaddedNode& node, size_t axis, const Slide& slide) {
  TUNEC_ASSIGN(const ValueId first, node.padder().Number(slide.begin, DataType::kI64));
  return Frame{.axis = axis, .begin = first, .length = node.axis(0, axis).padded() + slide.padded};
}

/// Returns the axes whose pads at the beginning depend on the sizes. Rejects pads of a fixed axis
/// that depend on the sizes.
Result<std::set<size_t>> MovedAxes(PaddedNode& node, const std::vector<Slide>& slides,
                                   const std::set<size_t>& open) {
  std::set<size_t> moved;
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    const Slide& slide = slides[a - 2];
    if (!open.contains(a) && !(slide.begin.IsConstant() && slide.end.IsConstant()))
      return node.Reject("its pads depend on the sizes");
    if (!slide.begin.IsConstant()) moved.insert(a);
  }
  return moved;
}

Attributes WithoutPads(const Node& node, const std::set<size_t>& axes) {
  Attributes attributes = node.attributes;
  auto& pads = std::get<std::vector<int64_t>>(attributes["pads"]);
  for (const size_t a : axes) pads[a - 2] = pads[pads.size() / 2 + a - 2] = 0;
  return attributes;
}

/// Returns operand 0 with `outside` at all positions that are read by a window but not exact.
Result<ValueId> Surrounded(PaddedNode& node, const std::vector<Slide>& slides,
                           const std::set<size_t>& padded, const std::set<size_t>& moved,
                           double outside) {
  std::set<size_t> masked;
  for (const size_t a : padded) {
    if (!moved.contains(a)) masked.insert(a);
  }
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, masked, outside));
  PaddedValue value = node.input(0);
  for (const size_t a : moved) {
    TUNEC_ASSIGN(const Frame frame, FrameFor(node, a, slides[a - 2]));
    TUNEC_ASSIGN(value.value, PutInFrame(node.padder(), value, frame, outside));
  }
  return value.value;
}

/// Returns the fraction of each window's elements that are exact. `type` is f32 or wider.
Result<ValueId> PartThatIsThere(PaddedNode& node, const std::vector<Slide>& slides,
                                const std::set<size_t>& padded, const std::set<size_t>& moved,
                                DataType type, Attributes attributes) {
  GraphBuilder& builder = node.builder();
  const Axes& axes = node.axes(0);
  PaddedValue ones;
  std::vector<int64_t> shape = {1, 1};
  for (size_t a = 2; a < axes.size(); ++a) shape.push_back(axes[a].padded());
  ones.axes.assign(axes.begin(), axes.end());
  ones.axes[0] = ones.axes[1] = Axis();
  const ValueId one = builder.AddConstant("one", ScalarOf(type, 1));
  TUNEC_ASSIGN(ones.value, builder.Add(Op::kExpand, {one}, {{"shape", shape}}));
  std::set<size_t> masked;
  for (const size_t a : padded) {
    if (!moved.contains(a)) masked.insert(a);
  }
  if (!masked.empty()) {
    TUNEC_ASSIGN(ones.value, node.padder().Mask(ones, masked, 0));
  }
  for (const size_t a : moved) {
    TUNEC_ASSIGN(const Frame frame, FrameFor(node, a, slides[a - 2]));
    TUNEC_ASSIGN(ones.value, PutInFrame(node.padder(), ones, frame, 0));
  }
  return builder.Add(Op::kAveragePool, {ones.value}, std::move(attributes),
                     node.bucket().name + ".there");
}

/// Returns each window's average over the exact elements. This is the average over the complete
/// window, with 0 for other elements, divided by the fraction of exact elements.
Result<ValueId> AverageOfWhatIsThere(PaddedNode& node, const std::vector<Slide>& slides,
                                     const std::set<size_t>& padded,
                                     const std::set<size_t>& moved) {
  GraphBuilder& builder = node.builder();
  Attributes attributes = WithoutPads(node.bucket(), moved);
  attributes["count_include_pad"] = int64_t{1};
  TUNEC_ASSIGN(const ValueId x, Surrounded(node, slides, padded, moved, 0));
  const DataType type = builder.TypeOf(x).type;
  const DataType wide = SizeOf(type) == 2 ? DataType::kF32 : type;
  TUNEC_ASSIGN(const ValueId widened, node.CastTo(x, wide));
  TUNEC_ASSIGN(const ValueId whole,
               builder.Add(Op::kAveragePool, {widened}, attributes, node.bucket().name + ".whole"));
  TUNEC_ASSIGN(const ValueId part,
               PartThatIsThere(node, slides, padded, moved, wide, std::move(attributes)));
  TUNEC_ASSIGN(const ValueId average, builder.Add(Op::kDiv, {whole, part}, {}, node.bucket().name));
  return node.CastTo(average, type);
}

/// Returns true if one window covers all elements, and its size depends on the sizes.
bool IsGlobal(const PaddedNode& node) {
  const std::vector<SizeExpr> kernel = node.Sizes("kernel");
  const bool has_pads =
      !std::ranges::all_of(node.Sizes("pads"), [](const SizeExpr& pad) { return pad == 0; });
  if (has_pads || std::ranges::all_of(kernel, &SizeExpr::IsConstant)) return false;
  const std::vector<Extents> shape = node.OutputShape();
  for (size_t a = 0; a < kernel.size(); ++a)
    if (shape[a + 2].exact != 1 || kernel[a] != node.axis(0, a + 2).exact()) return false;
  return true;
}

Result<std::vector<PaddedValue>> PadGlobalPool(PaddedNode& node) {
  std::set<size_t> spatial;
  std::vector<int64_t> numbers;
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    spatial.insert(a);
    numbers.push_back(static_cast<int64_t>(a));
  }
  GraphBuilder& builder = node.builder();
  const DataType type = builder.TypeOf(node.input(0).value).type;
  const bool is_average = node.op() == Op::kAveragePool;
  const Attributes attributes = {{"axes", numbers}, {"keepdims", int64_t{1}}};
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, spatial, is_average ? 0 : LeastOf(type)));
  Axes axes(node.axes(0).begin(), node.axes(0).begin() + 2);
  axes.resize(node.axes(0).size());
  if (is_average) {
    TUNEC_ASSIGN(const ValueId mean, MeanAlong(node, node.input(0).value, spatial, attributes));
    node.SetResult(mean);
  } else {
    TUNEC_ASSIGN(const ValueId most, builder.Add(Op::kReduceMax, {node.input(0).value}, attributes,
                                                 node.bucket().name));
    node.SetResult(most);
  }
  return WithAxes(std::move(axes));
}

/// Rejects a convolution of open channels, filters or biases.
Status RequireFixedWeights(const PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, 1));
  for (size_t i = 1; i < node.num_inputs(); ++i) {
    if (!node.Given(i)) continue;
    for (size_t a = 0; a < node.axes(i).size(); ++a) TUNEC_RETURN_IF_ERROR(node.RequireFixed(i, a));
  }
  return {};
}

}  // namespace

Result<std::vector<PaddedValue>> PadConv(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"pads"}));
  TUNEC_RETURN_IF_ERROR(RequireFixedWeights(node));
  const std::vector<Slide> slides = SlidesOf(node);
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  TUNEC_ASSIGN(const std::set<size_t> moved, MovedAxes(node, slides, open));
  const Axis channels = Axis::Fixed(node.OutputShape()[1].padded);
  TUNEC_ASSIGN(Axes axes, WindowAxes(node, channels, open));
  TUNEC_ASSIGN(const ValueId x, Surrounded(node, slides, PaddedAtEnd(slides, open), moved, 0));
  node.SetInput(0, x);
  if (!moved.empty()) node.SetAttributes(WithoutPads(node.bucket(), moved));
  return WithAxes(std::move(axes));
}

// Replaces elements beyond the exact ones by 0, because element i of the operand is added to
// results from i * stride on.
Result<std::vector<PaddedValue>> PadConvTranspose(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"pads"}));
  TUNEC_RETURN_IF_ERROR(RequireFixedWeights(node));
  const std::vector<Slide> slides = SlidesOf(node);
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  Axes axes = {node.axis(0, 0), Axis::Fixed(node.OutputShape()[1].padded)};
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    if (!slides[a - 2].begin.IsConstant()) return node.Reject("its pads depend on the sizes");
    axes.push_back(node.NewAxis(a));
  }
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, open, 0));
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadPool(PaddedNode& node) {
  if (IsGlobal(node)) return PadGlobalPool(node);
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes({"pads"}));
  const std::vector<Slide> slides = SlidesOf(node);
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  TUNEC_ASSIGN(const std::set<size_t> moved, MovedAxes(node, slides, open));
  const std::set<size_t> padded = PaddedAtEnd(slides, open);
  TUNEC_ASSIGN(Axes axes, WindowAxes(node, node.axis(0, 1), open));
  const bool is_average = node.op() == Op::kAveragePool;
  const bool counts = is_average && node.bucket().Int("count_include_pad") == 0;
  if (counts && (!padded.empty() || !moved.empty())) {
    TUNEC_ASSIGN(const ValueId average, AverageOfWhatIsThere(node, slides, padded, moved));
    node.SetResult(average);
    return WithAxes(std::move(axes));
  }
  const DataType type = node.builder().TypeOf(node.input(0).value).type;
  TUNEC_ASSIGN(const ValueId x,
               Surrounded(node, slides, padded, moved, is_average ? 0 : LeastOf(type)));
  node.SetInput(0, x);
  if (!moved.empty()) node.SetAttributes(WithoutPads(node.bucket(), moved));
  return WithAxes(std::move(axes));
}

}  // namespace tunec::pad
