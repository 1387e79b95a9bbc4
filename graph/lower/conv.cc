// Lowering of convolutions of one to three spatial axes, with strides, dilations and groups.
// Padding restricts the domain of the accumulating statement, unless a window may have no element.
#include "graph/lower/lower_node.h"
#include "graph/lower/window.h"

namespace tunec::lower {
namespace {

struct ConvShape {
  int64_t groups = 1;
  int64_t in_per_group = 1;
  int64_t out_per_group = 1;
  bool IsDepthwise() const { return groups > 1 && in_per_group == 1 && out_per_group == 1; }
};

// Returns the space of n, the output channels and `spatial` (whose index uses its own iterators).
IterationSpace OutputSpace(const ConvShape& conv, const std::vector<int64_t>& shape,
                           const IterationSpace& spatial) {
  IterationSpace space{.iterators = {{"n", shape[0], IteratorKind::kParallel}},
                       .index = {IndexExpr::Var(IteratorVar(0))},
                       .shape = shape};
  const auto add = [&](const char* name, int64_t extent) {
    return IndexExpr::Var(space.iterators.push_back({name, extent, IteratorKind::kParallel}));
  };
  if (conv.groups == 1) {
    space.index.push_back(add("m", conv.out_per_group));
  } else if (conv.IsDepthwise()) {
    space.index.push_back(add("c", conv.groups));
  } else {
    const IndexExpr group = add("g", conv.groups);
    space.index.push_back(group * conv.out_per_group + add("m", conv.out_per_group));
  }
  const size_t shift = space.iterators.size();
  for (const Iterator& iterator : spatial.iterators) space.iterators.push_back(iterator);
  for (const IndexExpr& e : spatial.index)
    space.index.push_back(
        Substitute(e, [&](VarId v) { return IndexExpr::Var(IteratorVar(shift + v.index())); }));
  return space;
}

// Returns a space in which one iterator p runs over all spatial positions.
IterationSpace Flattened(const std::vector<int64_t>& spatial) {
  const int64_t positions = ElementCount(spatial);
  IterationSpace space{
      .iterators = {{"p", positions, IteratorKind::kParallel}}, .index = {}, .shape = spatial};
  int64_t inner = positions;
  for (const int64_t extent : spatial) {
    const bool outermost = inner == positions;
    inner /= extent;
    const IndexExpr at = IndexExpr::FloorDiv(IndexExpr::Var(IteratorVar(0)), inner);
    space.index.push_back(outermost ? at : IndexExpr::Mod(at, extent));
  }
  return space;
}

IterationSpace SpatialSpace(const std::vector<WindowAxis>& axes, bool flat) {
  std::vector<int64_t> extents;
  std::vector<std::string> names;
  for (const WindowAxis& axis : axes) {
    extents.push_back(axis.output);
    names.push_back(axis.output_name);
  }
  return flat ? Flattened(extents) : IterationSpaceOf(extents, names);
}

// Emits the convolution's sums and sets the anchor. Returns the sums in the output's type, plus the
// bias if there is one.
Lazy Finished(LowerContext& context, const Node& node, StatementBuilder builder,
              const IterationSpace& space, const Expr& x, const Expr& w) {
  const DataType type = AccumulatorType(context.OutputType(node));
  context.SetAnchor(space);
  const TensorId acc = context.AddWorkspace("acc", type, space.shape, node.outputs[0]);
  const Lazy sum = context.EmitReduction(std::move(builder), acc, space.index,
                                         Expr::Cast(x, type) * Expr::Cast(w, type),
                                         Reducer::Sum(type), context.OutputType(node));
  return AddBias(context, node, sum);
}

// The group and the output channel, as expressions over the iterators of OutputSpace.
struct Channels {
  IndexExpr group;   // 0 without groups
  IndexExpr output;  // index within the group
};

Channels ChannelsOf(const ConvShape& conv) {
  if (conv.groups == 1) return {0, IndexExpr::Var(IteratorVar(1))};
  if (conv.IsDepthwise()) return {IndexExpr::Var(IteratorVar(1)), 0};
  return {IndexExpr::Var(IteratorVar(1)), IndexExpr::Var(IteratorVar(2))};
}

// Adds the iterator of a group's input channels and returns it. If there are several groups with
// one input channel each, adds no iterator and returns 0.
IndexExpr AddInputChannel(StatementBuilder& builder, const ConvShape& conv) {
  if (conv.groups > 1 && conv.in_per_group == 1) return 0;
  return builder.AddReduction("ic", conv.in_per_group);
}

std::vector<int64_t> KernelOf(const std::vector<int64_t>& weight) {
  return {weight.begin() + 2, weight.end()};
}

bool AllOnes(const std::vector<int64_t>& list) {
  for (const int64_t v : list)
    if (v != 1) return false;
  return true;
}

bool AllZeros(const std::vector<int64_t>& list) {
  for (const int64_t v : list)
    if (v != 0) return false;
  return true;
}

// Returns whether kernels without dilation tile the output, so that each output element has one
// input position.
bool IsTiling(const std::vector<WindowAxis>& axes) {
  for (const WindowAxis& axis : axes)
    if (axis.kernel != axis.stride || axis.dilation != 1 || axis.pad != 0 ||
        axis.output != axis.input * axis.stride)
      return false;
  return true;
}

// Returns the space o = i*stride + k of every axis. Two axes are iterated as ih, kh, iw, kw.
IterationSpace TilingSpace(const std::vector<WindowAxis>& axes) {
  IterationSpace space;
  for (const WindowAxis& axis : axes) {
    const VarId input =
        space.iterators.push_back({axis.input_name, axis.input, IteratorKind::kParallel});
    const VarId kernel =
        space.iterators.push_back({axis.kernel_name, axis.kernel, IteratorKind::kParallel});
    space.index.push_back(IndexExpr::Var(input) * axis.stride + IndexExpr::Var(kernel));
    space.shape.push_back(axis.output);
  }
  return space;
}

Lazy LowerTilingConvTranspose(LowerContext& context, const Node& node, const ConvShape& conv,
                              const std::vector<WindowAxis>& axes) {
  const Lazy x = context.OperandInput(node, 0);
  const Lazy w = context.OperandInput(node, 1);
  StatementBuilder builder = context.NewStatement();
  const IterationSpace space = OutputSpace(conv, context.OutputShape(node), TilingSpace(axes));
  builder.AddSpace(space);
  const Channels channels = ChannelsOf(conv);
  const size_t first = space.iterators.size() - 2 * axes.size();
  const IndexExpr ic = AddInputChannel(builder, conv);
  const IndexExpr channel = channels.group * conv.in_per_group + ic;
  Index x_index = {IndexExpr::Var(IteratorVar(0)), channel};
  Index w_index = {channel, channels.output};
  for (size_t d = 0; d < axes.size(); ++d) {
    x_index.push_back(IndexExpr::Var(IteratorVar(first + 2 * d)));
    w_index.push_back(IndexExpr::Var(IteratorVar(first + 2 * d + 1)));
  }
  const Expr input = x.At(builder, x_index);
  const Expr weight = w.At(builder, w_index);
  return Finished(context, node, std::move(builder), space, input, weight);
}

}  // namespace

Lazy AddBias(LowerContext& context, const Node& node, const Lazy& sums) {
  if (!context.HasInput(node, 2)) return sums;
  const Lazy bias = context.Input(node, 2);
  return context.Define(sums.type, sums.shape, sums.cost + bias.cost + 1,
                        [sums, bias](StatementBuilder& builder, const Index& index) {
                          const Expr sum = sums.At(builder, index);
                          return sum + Expr::Cast(bias.At(builder, {index[1]}), sum.type());
                        });
}

bool HasFlatVariant(const Graph& graph, const Node& node) {
  if (node.op != Op::kConv || node.Int("group") != 1) return false;
  const std::vector<int64_t> kernel = KernelOf(graph.value(node.inputs[1]).type.Shape());
  return kernel.size() > 1 && AllOnes(kernel) && AllOnes(node.Ints("strides")) &&
         AllZeros(node.Ints("pads"));
}

Result<Lazy> LowerConv(LowerContext& context, const Node& node) {
  const bool by_tiles =
      context.variant() == Variant::kWinograd || context.variant() == Variant::kWinograd4;
  if (by_tiles && HasWinogradVariant(context.graph(), node))
    return LowerWinogradConv(context, node);
  const bool flat = context.variant() == Variant::kFlat && HasFlatVariant(context.graph(), node);
  const bool once = HasNoWindows(context.graph(), node);
  const Lazy x = once ? context.Input(node, 0) : context.OperandInput(node, 0);
  const Lazy w = context.OperandInput(node, 1);
  const int64_t groups = node.Int("group");
  const ConvShape conv{groups, w.shape[1], w.shape[0] / groups};
  if (conv.in_per_group == 0)
    return AddBias(context, node,
                   context.Constant(0, context.OutputType(node), context.OutputShape(node)));
  const std::vector<WindowAxis> axes =
      WindowAxes(node, x.shape, context.OutputShape(node), KernelOf(w.shape));

  StatementBuilder builder = context.NewStatement();
  const IterationSpace space =
      OutputSpace(conv, context.OutputShape(node), SpatialSpace(axes, flat));
  const Index out = builder.AddSpace(space);
  const Channels channels = ChannelsOf(conv);
  const IndexExpr ic = AddInputChannel(builder, conv);
  Index x_index = {out[0], channels.group * conv.in_per_group + ic};
  Index w_index = {out[1], ic};
  Padding padding;
  const bool reduces_channels = !ic.IsConstant();
  for (size_t d = 0; d < axes.size(); ++d) {
    const WindowAxis& axis = axes[d];
    // Extent 1 needs no iterator, but the last axis always has one if the channels have none.
    const bool iterates = axis.kernel > 1 || (!reduces_channels && d + 1 == axes.size());
    const IndexExpr k =
        iterates ? builder.AddReduction(axis.kernel_name, axis.kernel) : IndexExpr(0);
    const IndexExpr at = out[2 + d] * axis.stride + k * axis.dilation - axis.pad;
    if (!flat)
      for (const IndexExpr& condition : ConditionsInside(axis, at))
        padding.inside.push_back(condition);
    padding.some_window_empty |= axis.MayBeEmpty();
    x_index.push_back(at);
    w_index.push_back(k);
  }
  const Expr input =
      once ? context.OperandElement(builder, x, x_index) : ReadPadded(builder, x, x_index, padding);
  const Expr weight = w.At(builder, w_index);
  return Finished(context, node, std::move(builder), space, input, weight);
}

// Lowers acc[o] sum= x[i] * w[k] where o + pad - k*dilation = i*stride. The left side is
// divided by the stride: the quotient is i, and the remainder must be 0.
Result<Lazy> LowerConvTranspose(LowerContext& context, const Node& node) {
  const Lazy x = context.OperandInput(node, 0);
  const Lazy w = context.OperandInput(node, 1);
  const int64_t groups = node.Int("group");
  const ConvShape conv{groups, x.shape[1] / groups, w.shape[1]};
  const std::vector<WindowAxis> axes =
      WindowAxes(node, x.shape, context.OutputShape(node), KernelOf(w.shape));
  if (IsTiling(axes)) return LowerTilingConvTranspose(context, node, conv, axes);

  StatementBuilder builder = context.NewStatement();
  const IterationSpace space =
      OutputSpace(conv, context.OutputShape(node), SpatialSpace(axes, /*flat=*/false));
  const Index out = builder.AddSpace(space);
  const Channels channels = ChannelsOf(conv);
  const IndexExpr ic = AddInputChannel(builder, conv);
  const IndexExpr channel = channels.group * conv.in_per_group + ic;
  Index x_index = {out[0], channel};
  Index w_index = {channel, channels.output};
  Padding padding;
  for (size_t d = 0; d < axes.size(); ++d) {
    const WindowAxis& axis = axes[d];
    const IndexExpr k = builder.AddReduction(axis.kernel_name, axis.kernel);
    const IndexExpr scaled = out[2 + d] + axis.pad - k * axis.dilation;
    const IndexExpr at = IndexExpr::FloorDiv(scaled, axis.stride);
    for (const IndexExpr& condition : ConditionsInside(axis, at))
      padding.inside.push_back(condition);
    padding.inside.push_back(-IndexExpr::Mod(scaled, axis.stride));
    padding.some_window_empty |= axis.MayBeEmptyTransposed();
    x_index.push_back(at);
    w_index.push_back(k);
  }
  // Where ReadPadded reads the input as 0, the weight is also read as 0, because 0 times an
  // infinite weight is NaN.
  const Expr input = ReadPadded(builder, x, x_index, padding);
  const Expr weight = ReadPadded(builder, w, w_index, padding);
  return Finished(context, node, std::move(builder), space, input, weight);
}

}  // namespace tunec::lower
