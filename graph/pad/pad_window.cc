// Rules that pad convolutions and pools. A window reads the same value at positions that are not
// exact as outside of the operand.
#include <algorithm>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

/// The motion of a window along one spatial axis. `begin` and `end` are the pads in each graph.
struct Slide {
  int64_t stride = 1;
  int64_t reach = 1;  // positions from the first element to the last
  Series begin, end;
};

Slide SlideAlong(const PaddedNode& node, size_t a, int64_t kernel) {
  const size_t axes = node.bucket().Ints("pads").size() / 2;
  return {.stride = node.bucket().Ints("strides")[a],
          .reach = node.bucket().Ints("dilations")[a] * (kernel - 1) + 1,
          .begin = node.Entries("pads", a),
          .end = node.Entries("pads", axes + a)};
}

/// Returns the motion along each spatial axis.
std::vector<Slide> Slides(const PaddedNode& node, std::span<const int64_t> kernel) {
  std::vector<Slide> slides;
  for (size_t a = 0; a < kernel.size(); ++a) slides.push_back(SlideAlong(node, a, kernel[a]));
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

/// Returns the number of window positions along an axis as a formula of the operand's size; empty
/// if none holds in all graphs. The pads may depend on the size.
SizeExpression PlacesOf(PaddedNode& node, size_t axis, const Slide& slide) {
  const SizeExpression size = node.padder().FormulaOf(node.axis(0, axis));
  Series steps = node.OutputSeries(axis);
  for (int64_t& places : steps) --places;
  std::optional<int64_t> added;
  if (!Varies(slide.begin) && !Varies(slide.end))
    added = slide.begin[0] + slide.end[0] - slide.reach;
  return node.padder().Quotient(size, slide.stride, steps, added).Plus(1);
}

Result<Axes> WindowAxes(PaddedNode& node, const Axis& channels, const std::set<size_t>& open,
                        const std::vector<Slide>& slides) {
  Axes axes = {node.axis(0, 0), channels};
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    const bool differs = Varies(node.OutputSeries(a));
    if (differs && !open.contains(a)) return node.Reject("its pads depend on the sizes");
    axes.push_back(node.NewAxis(a, PlacesOf(node, a, slides[a - 2])));
  }
  return axes;
}

/// Returns the axes in `open` that have pads at the end in some graph.
std::set<size_t> PaddedAtEnd(const std::vector<Slide>& slides, const std::set<size_t>& open) {
  std::set<size_t> padded;
  for (const size_t a : open) {
    const auto reaches = [](int64_t pad) { return pad > 0; };
    if (std::ranges::any_of(slides[a - 2].end, reaches)) padded.insert(a);
  }
  return padded;
}

/// Returns half of the total pads, which are (positions - 1) * stride + reach - size. Rounds down
/// if `more` is 0, and up if it is 1. TensorFlow's SAME splits the pads in this way.
SizeExpression HalfOfPads(PaddedNode& node, size_t axis, const Slide& slide, int64_t more) {
  const SizeExpression size = node.padder().FormulaOf(node.axis(0, axis));
  const SizeExpression last = PlacesOf(node, axis, slide).Plus(-1).Times(slide.stride);
  return last.Plus(slide.reach + more).Plus(size.Times(-1)).Over(2);
}

/// Returns the frame for an axis whose pads at the beginning depend on the size. The frame includes
/// the bucket's pads, so that windows on the frame have no pads along this axis.
Result<Frame> FrameFor(PaddedNode& node, size_t axis, const Slide& slide) {
  SizeExpression begin = HalfOfPads(node, axis, slide, 0);
  if (node.padder().Explain(slide.begin, begin).empty()) begin = HalfOfPads(node, axis, slide, 1);
  TUNEC_ASSIGN(const ValueId first,
               node.padder().AddNumber(fmt::format("{}.begin.{}", node.bucket().name, axis),
                                       slide.begin, begin));
  const int64_t length = node.axis(0, axis).extents().padded + slide.begin[1] + slide.end[1];
  return Frame{.axis = axis, .begin = first, .length = length};
}

/// Returns the axes whose pads at the beginning depend on the sizes. Rejects pads of a fixed axis
/// that depend on the sizes.
Result<std::set<size_t>> MovedAxes(PaddedNode& node, const std::vector<Slide>& slides,
                                   const std::set<size_t>& open) {
  std::set<size_t> moved;
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    const Slide& slide = slides[a - 2];
    if (!open.contains(a) && (Varies(slide.begin) || Varies(slide.end)))
      return node.Reject("its pads depend on the sizes");
    if (Varies(slide.begin)) moved.insert(a);
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
  for (size_t a = 2; a < axes.size(); ++a) shape.push_back(axes[a].extents().padded);
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

/// Returns true if one window covers all elements in every graph, and the graphs' windows have
/// different sizes.
bool IsGlobal(const PaddedNode& node) {
  const std::vector<int64_t>& kernel = node.bucket().Ints("kernel");
  bool differs = false;
  for (size_t a = 0; a < kernel.size(); ++a) {
    const Series sizes = node.Entries("kernel", a);
    differs = differs || Varies(sizes);
    const auto is_one = [](int64_t number) { return number == 1; };
    const auto is_none = [](int64_t number) { return number == 0; };
    if (!std::ranges::all_of(node.OutputSeries(a + 2), is_one)) return false;
    if (!std::ranges::all_of(node.Entries("pads", a), is_none)) return false;
    if (!std::ranges::all_of(node.Entries("pads", kernel.size() + a), is_none)) return false;
    if (sizes != node.InputSeries(0, a + 2)) return false;
  }
  return differs;
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

}  // namespace

Result<std::vector<PaddedValue>> PadConv(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"pads"}));
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, 1));
  for (size_t i = 1; i < node.num_inputs(); ++i) {
    if (!node.Given(i)) continue;
    for (size_t a = 0; a < node.axes(i).size(); ++a) TUNEC_RETURN_IF_ERROR(node.RequireFixed(i, a));
  }
  std::vector<int64_t> kernel;
  for (const Extents extents : node.padder().ShapeOf(node.bucket().inputs[1]))
    kernel.push_back(extents.padded);
  const std::vector<Slide> slides = Slides(node, std::span(kernel).subspan(2));
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  TUNEC_ASSIGN(const std::set<size_t> moved, MovedAxes(node, slides, open));
  const Axis channels = Axis::Fixed(node.OutputShape()[1].padded);
  TUNEC_ASSIGN(Axes axes, WindowAxes(node, channels, open, slides));
  TUNEC_ASSIGN(const ValueId x, Surrounded(node, slides, PaddedAtEnd(slides, open), moved, 0));
  node.SetInput(0, x);
  if (!moved.empty()) node.SetAttributes(WithoutPads(node.bucket(), moved));
  return WithAxes(std::move(axes));
}

// Replaces elements beyond the exact ones by 0, because element i of the operand is added to
// results from i * stride on.
Result<std::vector<PaddedValue>> PadConvTranspose(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"pads"}));
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, 1));
  for (size_t i = 1; i < node.num_inputs(); ++i) {
    if (!node.Given(i)) continue;
    for (size_t a = 0; a < node.axes(i).size(); ++a) TUNEC_RETURN_IF_ERROR(node.RequireFixed(i, a));
  }
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  Axes axes = {node.axis(0, 0), Axis::Fixed(node.OutputShape()[1].padded)};
  for (size_t a = 2; a < node.axes(0).size(); ++a) {
    if (Varies(node.Entries("pads", a - 2))) return node.Reject("its pads depend on the sizes");
    const int64_t stride = node.bucket().Ints("strides")[a - 2];
    const SizeExpression size = node.padder().FormulaOf(node.axis(0, a)).Times(stride);
    const int64_t added = node.OutputShape()[a].padded - stride * node.axis(0, a).extents().padded;
    axes.push_back(node.NewAxis(a, size.Plus(added)));
  }
  TUNEC_RETURN_IF_ERROR(node.MaskInput(0, open, 0));
  return WithAxes(std::move(axes));
}

Result<std::vector<PaddedValue>> PadPool(PaddedNode& node) {
  if (IsGlobal(node)) return PadGlobalPool(node);
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes({"pads"}));
  const std::vector<Slide> slides = Slides(node, node.bucket().Ints("kernel"));
  TUNEC_ASSIGN(const std::set<size_t> open, OpenSpatialAxes(node));
  TUNEC_ASSIGN(const std::set<size_t> moved, MovedAxes(node, slides, open));
  const std::set<size_t> padded = PaddedAtEnd(slides, open);
  TUNEC_ASSIGN(Axes axes, WindowAxes(node, node.axis(0, 1), open, slides));
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
