// Recipes that add operators on images with dynamic sizes. Examples are strided windows, windows
// whose pads depend on the size, and upsampling.
#include <algorithm>

#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

/// An image [batch, channels, height, perhaps width] with a constant number of channels.
struct Image {
  ValueId value;
  DataType type = DataType::kF32;
  SizedShape shape;

  size_t spatial() const { return shape.size() - 2; }
  int64_t channels() const { return shape[1][kBucket]; }
};

Image Of(SizedGenerator& g, ValueId value) {
  return {.value = value, .type = g.TypeOf(value), .shape = g.ShapeOf(value)};
}

Image DrawImage(SizedGenerator& g) {
  const DataType type = g.TypeIn(Domain::kFloat);
  SizedShape shape = {Fixed(g.Between(1, 2)), Fixed(g.OneOf<int64_t>({1, 2, 2, 4}))};
  shape.push_back(g.Dimension());
  if (g.Chance(60)) shape.push_back(g.Axis());
  return Of(g, g.OfType(type, shape));
}

// Returns a value of 3 or 4 axes with a fixed number of channels, from Operand or DrawImage.
Image AnyImage(SizedGenerator& g) {
  for (int tries = 0; tries < 4 && g.Chance(60); ++tries) {
    const ValueId value = g.Operand(Domain::kFloat, 3, 4);
    if (IsFixed(g.ShapeOf(value)[1])) return Of(g, value);
  }
  return DrawImage(g);
}

int64_t Least(const AxisSizes& sizes) { return *std::ranges::min_element(sizes); }

/// A window with strides, dilations, and pads that may depend on the size.
struct SizedWindow {
  Ints kernel, strides, dilations;
  std::array<Ints, kSizeSets.size()> pads;
};

/// Sets the pads of axis `a` to zero, to constants, to what completes the last window, or to those
/// of the ONNX mode SAME.
void PadAxis(SizedGenerator& g, SizedWindow& window, size_t a, size_t axes,
             const AxisSizes& sizes) {
  const int64_t kernel = window.kernel[a], stride = window.strides[a];
  const int64_t reach = (kernel - 1) * window.dilations[a] + 1;
  const int64_t kind = g.Below(4);
  const int64_t before = g.Between(0, kernel - 1), after = g.Between(0, kernel - 1);
  const int64_t lower = g.Below(2);
  for (const SizeSet set : kSizeSets) {
    int64_t& begin = window.pads[set][a];
    int64_t& end = window.pads[set][a + axes];
    if (kind == 1) begin = before, end = after;
    if (kind == 2) {
      const int64_t rest = sizes[set] - reach;
      end = rest < 0 ? 0 : (stride - rest % stride) % stride;
    }
    if (kind == 3) {
      const int64_t positions = (sizes[set] + stride - 1) / stride;
      const int64_t total = std::max<int64_t>(0, (positions - 1) * stride + reach - sizes[set]);
      begin = (total + lower) / 2;
      end = total - begin;
    }
  }
}

SizedWindow DrawSizedWindow(SizedGenerator& g, const Image& image) {
  SizedWindow window;
  const size_t axes = image.spatial();
  for (Ints& pads : window.pads) pads.assign(2 * axes, 0);
  for (size_t a = 0; a < axes; ++a) {
    const AxisSizes& sizes = image.shape[a + 2];
    window.kernel.push_back(g.Between(1, std::clamp<int64_t>(Least(sizes), 1, 3)));
    window.strides.push_back(g.OneOf<int64_t>({1, 2, 2, 3}));
    window.dilations.push_back(g.Chance(85) ? 1 : 2);
    PadAxis(g, window, a, axes, sizes);
  }
  return window;
}

Attributes AttributesAt(const SizedWindow& window, SizeSet set) {
  return {{"strides", window.strides}, {"pads", window.pads[set]}, {"dilations", window.dilations}};
}

Drawn ConvOf(SizedGenerator& g, const Image& image) {
  if (g.ShapeOf(image.value).size() < 3) return {};
  const SizedWindow window = DrawSizedWindow(g, image);
  SizedShape weight = {Fixed(g.OneOf<int64_t>({1, 2, 4})), image.shape[1]};
  for (const int64_t size : window.kernel) weight.push_back(Fixed(size));
  return g.TryAt(Op::kConv, {image.value, g.Table(image.type, weight)},
                 [&](SizeSet set) { return AttributesAt(window, set); });
}

Drawn PoolOf(SizedGenerator& g, const Image& image) {
  const SizedWindow window = DrawSizedWindow(g, image);
  const Op op = g.OneOf({Op::kMaxPool, Op::kAveragePool});
  const int64_t counts = g.Below(2);
  return g.TryAt(op, {image.value}, [&](SizeSet set) {
    Attributes attributes = AttributesAt(window, set);
    attributes["kernel"] = window.kernel;
    if (op == Op::kAveragePool) attributes["count_include_pad"] = counts;
    return attributes;
  });
}

Drawn StridedConv(SizedGenerator& g) { return ConvOf(g, AnyImage(g)); }
Drawn StridedPool(SizedGenerator& g) { return PoolOf(g, AnyImage(g)); }

Drawn Upwards(SizedGenerator& g) {
  const Image image = AnyImage(g);
  const size_t axes = image.spatial();
  SizedShape weight = {image.shape[1], Fixed(g.Between(1, 3))};
  for (size_t a = 0; a < axes; ++a) weight.push_back(Fixed(2));
  return g.Try(Op::kConvTranspose, {image.value, g.Table(image.type, weight)},
               {{"strides", Ints(axes, 2)}});
}

Drawn Pyramid(SizedGenerator& g) {
  Image image = DrawImage(g);
  for (int64_t levels = g.Between(2, 3); levels > 0; --levels) {
    const Drawn next = g.Chance(60) ? ConvOf(g, image) : PoolOf(g, image);
    if (!next) return {};
    image = Of(g, *next);
  }
  Ints axes;
  for (size_t a = 2; a < image.shape.size(); ++a) axes.push_back(static_cast<int64_t>(a));
  return g.Try(Op::kReduceMean, {image.value}, {{"axes", axes}, {"keepdims", g.Below(2)}});
}

// Applies a pool or convolution to an image, and resizes the result to the image's size. Then
// concatenates the image and the resized result.
Drawn ThereAndBack(SizedGenerator& g) {
  const Image image = DrawImage(g);
  const Drawn small = g.Chance(50) ? PoolOf(g, image) : ConvOf(g, image);
  if (!small) return {};
  const Attributes manner = ResizeAttributes(g);
  const SizedShape from = g.ShapeOf(*small);
  const Drawn large = g.TryAt(Op::kResize, {*small}, [&](SizeSet set) {
    Attributes own = manner;
    Ints shape = ShapeAt(image.shape, set);
    shape[1] = from[1][set];
    own["shape"] = shape;
    return own;
  });
  return large ? g.Try(Op::kConcat, {image.value, *large}, {{"axis", int64_t{1}}}) : Drawn();
}

// Adds to an image a copy that a pool halves and a resize doubles. For an odd size, a pad adds the
// missing row or column.
Drawn Skip(SizedGenerator& g) {
  const Image image = DrawImage(g);
  const size_t axes = image.spatial();
  const Drawn small =
      g.Try(Op::kMaxPool, {image.value}, {{"kernel", Ints(axes, 2)}, {"strides", Ints(axes, 2)}});
  if (!small) return {};
  const SizedShape half = g.ShapeOf(*small);
  const bool before = g.Chance(30);
  std::vector<double> scales(axes + 2, 2);
  scales[0] = scales[1] = 1;
  Attributes manner = ResizeAttributes(g);
  manner["scales"] = scales;
  const Drawn twice = g.Try(Op::kResize, {*small}, manner);
  const Drawn filled = twice ? g.TryAt(Op::kPad, {*twice},
                                       [&](SizeSet set) {
                                         Ints pads(2 * (axes + 2), 0);
                                         for (size_t a = 0; a < axes; ++a)
                                           pads[a + 2 + (before ? 0 : axes + 2)] =
                                               image.shape[a + 2][set] - 2 * half[a + 2][set];
                                         return Attributes{{"pads", pads}};
                                       })
                             : Drawn();
  return filled ? g.Try(Op::kAdd, {image.value, *filled}) : Drawn();
}

Drawn Shuffle(SizedGenerator& g) {
  const Image image = AnyImage(g);
  if (image.channels() % 2 != 0 || image.spatial() != 1) return {};
  const AxisSizes half = Fixed(image.channels() / 2);
  const Drawn split = g.Reshape(image.value, {image.shape[0], half, Fixed(2), image.shape[2]});
  const Drawn turned =
      split ? g.Try(Op::kTranspose, {*split}, {{"perm", Ints{0, 1, 3, 2}}}) : Drawn();
  AxisSizes twice = image.shape[2];
  for (int64_t& size : twice) size *= 2;
  const Drawn flat = turned ? g.Reshape(*turned, {image.shape[0], half, twice}) : Drawn();
  return flat && g.Chance(70) ? ConvOf(g, Of(g, *flat)) : flat;
}

Drawn Normalised(SizedGenerator& g) {
  const Image image = AnyImage(g);
  const SizedShape vector = {image.shape[1]};
  const Op op = g.OneOf({Op::kInstanceNorm, Op::kGroupNorm});
  Attributes attributes = {{"epsilon", 0.25}};
  if (op == Op::kGroupNorm) attributes["groups"] = image.channels() % 2 == 0 ? 2 : int64_t{1};
  return g.Try(op, {image.value, g.Parameter(image.type, vector), g.Parameter(image.type, vector)},
               attributes);
}

constexpr SizedRecipe kImages[] = {{StridedConv, 4}, {StridedPool, 4},  {Upwards, 2},
                                   {Pyramid, 4},     {ThereAndBack, 3}, {Skip, 2},
                                   {Shuffle, 1},     {Normalised, 2}};

}  // namespace

std::span<const SizedRecipe> SizedImages() { return kImages; }

}  // namespace tunec::fuzz
