// Import of GridSample, AffineGrid, RoiAlign and DeformConv.
#include <algorithm>
#include <array>
#include <cmath>

#include "graph/onnx/handlers/handlers.h"
#include "graph/onnx/handlers/positions.h"
#include "graph/onnx/handlers/sampling.h"
#include "graph/onnx/handlers/window.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

struct GridMode {
  std::string interpolation;  // nearest, linear, cubic
  std::string padding;        // zeros, border, reflection
  bool align_corners = false;
};

Result<GridMode> ReadGridMode(const NodeContext& node) {
  GridMode mode;
  TUNEC_ASSIGN(mode.interpolation,
               node.Choice("mode", {"linear", "nearest", "cubic", "bilinear", "bicubic"}));
  TUNEC_ASSIGN(mode.padding, node.Choice("padding_mode", {"zeros", "border", "reflection"}));
  TUNEC_ASSIGN(const int64_t align, node.Int("align_corners", 0));
  mode.align_corners = align != 0;
  // Before opset 20, two modes had other names.
  if (mode.interpolation == "bilinear") mode.interpolation = "linear";
  if (mode.interpolation == "bicubic") mode.interpolation = "cubic";
  return mode;
}

/// The borders of an image along an axis: the centres of the outer pixels, or the outer edges of
/// these pixels.
struct Border {
  double least = 0;
  double most = 0;
};

Border BorderOf(const GridMode& mode, int64_t extent) {
  const auto size = static_cast<double>(extent);
  return mode.align_corners ? Border{0, size - 1} : Border{-0.5, size - 0.5};
}

/// Returns x reflected into the image, as between two mirrors at the borders.
Formula Reflected(const Formula& x, const Border& border) {
  const double range = border.most - border.least;
  if (range <= 0) return x * 0;
  const Formula from = x - border.least;
  const Formula turns = Apply(Op::kFloor, {from / (2 * range)});
  const Formula within = from - turns * (2 * range);
  return Min(within, 2 * range - within) + border.least;
}

/// Converts positions, -1..1 within the image, to coordinates of the axis. Nearest interpolation
/// rounds. The padding modes border and reflection move coordinates outside the image into it.
/// Requires: the extent is a number if the padding mode is reflection.
Formula Coordinate(const Formula& normalized, const GridMode& mode, const Dim& extent) {
  const Formula size = normalized.Size(extent), last = normalized.Size(extent - 1);
  Formula x = mode.align_corners ? (normalized + 1) / 2 * last : ((normalized + 1) * size - 1) / 2;
  if (mode.interpolation == "nearest") x = Apply(Op::kRound, {x});
  if (mode.padding == "reflection") return Reflected(x, BorderOf(mode, extent.Value()));
  if (mode.padding == "zeros") return x;
  const Formula outside = mode.align_corners
                              ? Apply(Op::kOr, {Less(x, x.Number(0)), Less(last, x)})
                              : Apply(Op::kOr, {Less(x, x.Number(-0.5)), Less(size - 0.5, x)});
  return Where(outside, ClampedTo(x, extent - 1), x);
}

/// Returns the cubic convolution kernel with a = -0.75 at distance `d`. CubicNear holds for
/// 0 <= d <= 1, CubicFar for 1 <= d <= 2.
Formula CubicNear(const Formula& d) { return (d * 1.25 - 2.25) * d * d + 1; }
Formula CubicFar(const Formula& d) { return ((d * -0.75 + 3.75) * d - 6) * d + 3; }

/// Returns the taps of samples at x. Requires: the extent is a number if the padding mode is
/// reflection.
Taps GridTaps(const Formula& x, const GridMode& mode, const Dim& extent) {
  const Formula base = mode.interpolation == "nearest" ? x : Apply(Op::kFloor, {x});
  const Formula t = x - base;
  std::vector<Formula> weights{t.Number(1).Expand(x.shape())};
  int64_t first = 0;
  if (mode.interpolation == "linear") weights = {1 - t, t};
  if (mode.interpolation == "cubic") {
    weights = {CubicFar(t + 1), CubicNear(t), CubicNear(1 - t), CubicFar(2 - t)};
    first = -1;
  }
  std::vector<Formula> positions;
  for (size_t k = 0; k < weights.size(); ++k) {
    positions.push_back(
        (base + static_cast<double>(first + static_cast<int64_t>(k))).Unsqueeze(-1));
    weights[k] = weights[k].Unsqueeze(-1);
  }
  Formula index = Concat(positions, x.rank());
  Formula weight = Concat(weights, x.rank());
  if (mode.padding == "zeros") {
    const Formula inside =
        And(LessOrEqual(index.Number(0), index), LessOrEqual(index, index.Size(extent - 1)));
    weight = Where(inside, weight, weight.Number(0));
  } else if (mode.padding == "reflection") {
    index = Reflected(index, BorderOf(mode, extent.Value()));
  }
  return {ClampedIndex(index, extent - 1), weight};
}

Result<Operands> GridSample(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_ASSIGN(const Operand grid, node.Input(1));
  TUNEC_ASSIGN(const GridMode mode, ReadGridMode(node));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(input, 3, 5));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(grid, input->rank(), input->rank()));
  const int64_t axes = input->rank() - 2;
  TUNEC_ASSIGN(const Dim batch, node.DimOf(input, 0));
  TUNEC_ASSIGN(const Dim grid_batch, node.DimOf(grid, 0));
  TUNEC_ASSIGN(const int64_t coordinates, node.Extent(grid, -1));
  if (coordinates != axes || !MayBeEqual({grid_batch}, {batch})) {
    return Fail(ErrorCode::kInvalidArgument, "{}, expected {} positions of {} coordinates each",
                node.Describe(grid), DimText(batch), axes);
  }
  const Formula x(node, input);
  const DataType float_type = CombinedType({input->type, grid->type});
  std::vector<Dim> points = grid->shape.Part(0, grid->shape.size() - 1);
  points[0] = batch;  // the reshape assumes equal batches
  std::vector<Taps> taps;
  for (int64_t d = 0; d < axes; ++d) {
    TUNEC_ASSIGN(const Dim extent, node.DimOf(input, d + 2));
    if (mode.padding == "reflection") TUNEC_RETURN_IF_ERROR(node.Extent(input, d + 2));
    const Formula normalized =
        Formula(node, grid).Slice(-1, axes - 1 - d, axes - d).Reshape(points).Cast(float_type);
    taps.push_back(GridTaps(Coordinate(normalized, mode, extent), mode, extent));
  }
  std::vector<Dim> image_shape(points.size(), 1);
  image_shape[0] = batch;
  const Formula image = Iota(node, 0, batch).Reshape(image_shape);
  const Formula samples = SampleTaps(x.Cast(float_type), image, taps);
  std::vector<int64_t> tap_axes;
  for (int64_t d = 0; d < axes; ++d) tap_axes.push_back(axes + 1 + d);
  std::vector<int64_t> perm = AllAxes(axes + 2);  // [n, points..., c] to [n, c, points...]
  perm.erase(perm.end() - 1);
  perm.insert(perm.begin() + 1, axes + 1);
  return Results({Sum(samples, tap_axes).Transpose(perm).Cast(input->type)});
}

/// Returns the position of pixel i of an axis in -1..1. With `align_corners` the ends of -1..1 are
/// the centres of the outer pixels, otherwise their outer edges. An only pixel is at 0.
double GridPosition(int64_t i, int64_t extent, bool align_corners) {
  if (align_corners)
    return extent == 1 ? 0 : -1 + 2.0 * static_cast<double>(i) / static_cast<double>(extent - 1);
  return -1 + (2 * static_cast<double>(i) + 1) / static_cast<double>(extent);
}

Result<Operands> AffineGrid(const NodeContext& node, Op) {
  constexpr int64_t kMostPositions = 1 << 26;
  TUNEC_ASSIGN(const Operand theta, node.Input(0));
  TUNEC_ASSIGN(const std::vector<Dim> size, node.Sizes(1));
  TUNEC_ASSIGN(const int64_t align, node.Int("align_corners", 0));
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if ((axes != 2 && axes != 3) || !MayBeEqual(theta->shape, {size[0], axes, axes + 1})) {
    return Fail(ErrorCode::kInvalidArgument, "size has {} values, expected 4 or 5 that fit theta",
                size.size());
  }
  TUNEC_ASSIGN(const std::vector<int64_t> image, NodeContext::Numbers(OperandShape(size).Part(2)));
  const int64_t points = ElementCount(image);
  if (points < 0 || points > kMostPositions) {
    return Fail(ErrorCode::kUnsupported, "a grid of that size is not supported");
  }
  // Rows x, y(, z), 1 of homogeneous coordinates: the last spatial axis comes first.
  Array positions(theta->type, {axes + 1, points});
  for (int64_t p = 0; p < points; ++p) {
    int64_t rest = p;
    for (int64_t row = 0; row < axes; ++row) {
      const int64_t extent = image[static_cast<size_t>(axes - 1 - row)];
      positions.SetDouble(row * points + p, GridPosition(rest % extent, extent, align != 0));
      rest /= extent;
    }
    positions.SetDouble(axes * points + p, 1);
  }
  std::vector<Dim> shape = size;
  shape.erase(shape.begin() + 1);
  shape.push_back(axes);
  const Formula grid = Matmul(In(node, 0), Constant(node, std::move(positions)));
  return Results({grid.Transpose({0, 2, 1}).Reshape(shape)});
}

/// Returns the taps of samples along one axis of all regions: [regions, samples, 2]. Sample i is at
/// begin + (i + 0.5) * length / samples.
Taps RegionTaps(const Formula& begin, const Formula& length, int64_t samples, const Dim& extent) {
  const NodeContext& node = begin.node();
  const Formula numbers = Iota(node, 0, samples).Cast(begin.type()) + 0.5;
  const Formula x = begin + numbers * (length / static_cast<double>(samples));
  const Formula outside = Apply(Op::kOr, {Less(x, x.Number(-1)), Less(x.Size(extent), x)});
  const Formula clamped = ClampedTo(x, extent - 1);
  const Formula low = Apply(Op::kFloor, {clamped});
  const Formula high = Min(low + 1, low.Size(extent - 1));
  const Formula fraction = clamped - low;
  const Formula index = Concat({low.Unsqueeze(-1), high.Unsqueeze(-1)}, x.rank());
  const Formula weight = Concat({(1 - fraction).Unsqueeze(-1), fraction.Unsqueeze(-1)}, x.rank());
  return {ClampedIndex(index, extent - 1), Where(outside.Unsqueeze(-1), weight.Number(0), weight)};
}

/// Largest height and width of a region's output, and largest number of samples per cell along an
/// axis.
constexpr int64_t kMostSamples = 1 << 16;

struct RoiAlignAttributes {
  int64_t height = 1;
  int64_t width = 1;
  int64_t ratio = 0;
  double scale = 1;
  bool half_pixel = false;
  bool takes_most = false;
};

Result<RoiAlignAttributes> ReadRoiAlign(const NodeContext& node) {
  RoiAlignAttributes roi;
  TUNEC_ASSIGN(roi.height, node.Int("output_height", 1));
  TUNEC_ASSIGN(roi.width, node.Int("output_width", 1));
  TUNEC_ASSIGN(roi.ratio, node.Int("sampling_ratio", 0));
  TUNEC_ASSIGN(roi.scale, node.Float("spatial_scale", 1));
  TUNEC_ASSIGN(const std::string mode, node.Choice("mode", {"avg", "max"}));
  TUNEC_ASSIGN(const std::string coordinates,
               node.Choice("coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}));
  roi.takes_most = mode == "max";
  // Before opset 16, the attribute did not exist.
  roi.half_pixel = node.version() >= 16 && coordinates == "half_pixel";
  const auto is_size = [](int64_t size) { return size >= 1 && size <= kMostSamples; };
  if (!is_size(roi.height) || !is_size(roi.width) || roi.ratio > kMostSamples) {
    return Fail(ErrorCode::kInvalidArgument,
                "output is {}x{} with sampling_ratio {}, expected 1 to {} of each", roi.height,
                roi.width, roi.ratio, kMostSamples);
  }
  if (roi.ratio < 1) {
    return Fail(ErrorCode::kUnsupported,
                "sampling_ratio is {}: the number of samples would depend on the regions",
                roi.ratio);
  }
  return roi;
}

Result<Operands> RoiAlign(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand rois, node.Input(1));
  TUNEC_ASSIGN(const RoiAlignAttributes roi, ReadRoiAlign(node));
  TUNEC_ASSIGN(const auto dims, node.Dims<4>(x));
  TUNEC_ASSIGN(const auto rois_dims, node.Dims<2>(rois));
  const Dim& regions = rois_dims[0];
  TUNEC_ASSIGN(const int64_t corners_each, node.Extent(rois, 1));
  if (corners_each != 4) {
    return Fail(ErrorCode::kInvalidArgument, "{}, expected 4 coordinates of each region",
                node.Describe(rois));
  }
  // f16 cannot represent halves above 1,024, so positions are computed in f32 or f64. The pooled
  // result is rounded to the type of x only at the end.
  const DataType wide = CombinedType({x->type, rois->type});
  const Formula corners = Formula(node, rois).Cast(wide) * roi.scale - (roi.half_pixel ? 0.5 : 0.0);
  // `corners` is [regions, 4]: x and y of the first corner, x and y of the opposite corner.
  const auto axis = [&](int64_t at, int64_t samples, const Dim& extent) {
    const Formula begin = corners.Slice(1, at, at + 1);
    Formula length = corners.Slice(1, at + 2, at + 3) - begin;
    if (!roi.half_pixel) length = Max(length, length.Number(1));
    return RegionTaps(begin, length, samples, extent);
  };
  const int64_t rows = roi.height * roi.ratio;
  const int64_t columns = roi.width * roi.ratio;
  Taps y = axis(1, rows, dims[2]);
  Taps z = axis(0, columns, dims[3]);
  for (Formula* part : {&y.index, &y.weight}) *part = part->Reshape({regions, rows, 1, 2});
  for (Formula* part : {&z.index, &z.weight}) *part = part->Reshape({regions, 1, columns, 2});
  const Formula image =
      CheckedIndex(In(node, 2).Cast(DataType::kI64).Reshape({regions, 1, 1}), dims[0]);
  // `samples` is [regions, rows, columns, 2, 2, channels]: 2 taps along each axis.
  const Formula samples = SampleTaps(Formula(node, x).Cast(wide), image, {y, z});
  const std::vector<Dim> cells{regions, roi.height, roi.ratio, roi.width, roi.ratio, dims[1]};
  const Attributes within{{"axes", std::vector<int64_t>{2, 4}}, {"keepdims", int64_t{0}}};
  const Attributes of_taps{{"axes", std::vector<int64_t>{3, 4}}, {"keepdims", int64_t{0}}};
  const Formula pooled =
      roi.takes_most ? Apply(Op::kReduceMax,
                             {Apply(Op::kReduceMax, {samples}, of_taps).Reshape(cells)}, within)
                     : Apply(Op::kReduceMean, {Sum(samples, {3, 4}).Reshape(cells)}, within);
  return Results({pooled.Transpose({0, 3, 1, 2}).Cast(x->type)});
}

struct DeformConvOperands {
  Operand x, w;
  Window window;
  int64_t group = 1;
  int64_t offset_group = 1;
  Dim batch;
  int64_t channels = 0;
  std::array<Dim, 2> image{};  // size of the input
  int64_t filters = 0;
  int64_t taps = 0;
  int64_t height = 0;  // height of the output
  int64_t width = 0;
};

Result<DeformConvOperands> ReadDeformConv(const NodeContext& node) {
  DeformConvOperands conv;
  TUNEC_ASSIGN(conv.x, node.Input(0));
  TUNEC_ASSIGN(conv.w, node.Input(1));
  TUNEC_ASSIGN(const Operand offset, node.Input(2));
  TUNEC_ASSIGN(const auto x, node.Dims<4>(conv.x));
  TUNEC_ASSIGN(const auto w, node.Extents<4>(conv.w));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(offset, 4, 4));
  TUNEC_ASSIGN(conv.group, node.Int("group", 1));
  TUNEC_ASSIGN(conv.offset_group, node.Int("offset_group", 1));
  TUNEC_ASSIGN(conv.window, ReadWindow(node, {w[2], w[3]}));
  conv.batch = x[0];
  TUNEC_ASSIGN(conv.channels, node.Extent(conv.x, 1));
  conv.image = {x[2], x[3]};
  conv.filters = w[0];
  conv.taps = MultiplySizes(w[2], w[3]);
  TUNEC_ASSIGN(const int64_t moves, node.Extent(offset, 1));
  TUNEC_ASSIGN(conv.height, node.Extent(offset, 2));
  TUNEC_ASSIGN(conv.width, node.Extent(offset, 3));
  if (conv.group < 1 || conv.offset_group < 1 || conv.channels % conv.group != 0 ||
      conv.channels % conv.offset_group != 0 || conv.filters % conv.group != 0 ||
      MultiplySizes(w[1], conv.group) != conv.channels ||
      moves != MultiplySizes(2 * conv.taps, conv.offset_group)) {
    return Fail(ErrorCode::kInvalidArgument, "channels, groups and offsets do not fit each other");
  }
  return conv;
}

/// Returns the positions along one axis that a convolution without offsets reads: [taps, height,
/// width].
Result<Formula> RegularPositions(const NodeContext& node, const DeformConvOperands& conv,
                                 size_t axis) {
  TUNEC_ASSIGN(const std::vector<int64_t> pads, NodeContext::Numbers(conv.window.pads));
  const std::vector<int64_t>& kernel = conv.window.kernel;
  Array positions(conv.x->type, {conv.taps, conv.height, conv.width});
  for (int64_t i = 0; i < positions.size(); ++i) {
    const int64_t tap = i / (conv.height * conv.width);
    const int64_t out = axis == 0 ? i / conv.width % conv.height : i % conv.width;
    const int64_t k = axis == 0 ? tap / kernel[1] : tap % kernel[1];
    const int64_t at =
        out * conv.window.strides[axis] + k * conv.window.dilations[axis] - pads[axis];
    positions.SetDouble(i, static_cast<double>(at));
  }
  return Constant(node, std::move(positions));
}

Result<Operands> DeformConv(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const DeformConvOperands conv, ReadDeformConv(node));
  const Dim& batch = conv.batch;
  const int64_t taps = conv.taps;
  const int64_t points = conv.height * conv.width;
  const int64_t group_channels = conv.channels / conv.offset_group;
  constexpr int64_t kMostPositions = 1 << 26;
  if (points > kMostPositions / std::max<int64_t>(1, taps)) {
    return Fail(ErrorCode::kUnsupported, "{} positions of {} taps, expected at most {} in all",
                points, taps, kMostPositions);
  }
  const Formula offsets =
      In(node, 2).Reshape({batch, conv.offset_group, taps, 2, conv.height, conv.width});
  const std::vector<Dim> positions{batch, conv.offset_group, taps, conv.height, conv.width};
  std::vector<Taps> axes;
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto at = static_cast<int64_t>(axis);
    const Formula moved = offsets.Slice(3, at, at + 1).Reshape(positions);
    TUNEC_ASSIGN(const Formula regular, RegularPositions(node, conv, axis));
    axes.push_back(LinearTapsAmongZeros(moved + regular, conv.image[axis]));
  }
  const Formula image =
      Iota(node, 0, batch * conv.offset_group).Reshape({batch, conv.offset_group, 1, 1, 1});
  const Formula split =
      Formula(node, conv.x)
          .Reshape({batch * conv.offset_group, group_channels, conv.image[0], conv.image[1]});
  // `columns` is first [batch, offset groups, taps, height, width, channels of an offset group].
  Formula columns = Sum(SampleTaps(split, image, axes), {5, 6});
  if (node.HasInput(4)) columns = columns * In(node, 4).Reshape(positions).Unsqueeze(-1);
  const int64_t rows = conv.channels / conv.group * taps;
  columns = columns.Transpose({0, 1, 5, 2, 3, 4}).Reshape({batch, conv.group, rows, points});
  const Formula w = Formula(node, conv.w).Reshape({conv.group, conv.filters / conv.group, rows});
  Formula y = Matmul(w, columns).Reshape({batch, conv.filters, conv.height, conv.width});
  if (node.HasInput(3)) y = y + In(node, 3).Reshape({conv.filters, 1, 1});
  return Results({y});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"AffineGrid", 20, AffineGrid},
    {"DeformConv", 19, DeformConv},
    {"GridSample", 16, GridSample},
    {"RoiAlign", 10, RoiAlign},
});

}  // namespace

std::span<const Handler> SamplingHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
