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
  int64_t channels() const { return shape[1].Value(); }
};

Image Of(SizedGenerator& g, ValueId value) {
  return {.value = value, .type = g.TypeOf(value), .shape = g.ShapeOf(value)};
}

Image DrawImage(SizedGenerator& g) {
  const DataType type = g.TypeIn(Domain::kFloat);
  SizedShape shape = {g.Between(1, 2), g.OneOf<int64_t>({1, 2, 2, 4})};
  shape.push_back(g.Dimension());
  if (g.Chance(60)) shape.push_back(g.Axis());
  return Of(g, g.OfType(type, shape));
}

// Returns a value of 3 or 4 axes with a fixed number of channels, from Operand or DrawImage.
Image AnyImage(SizedGenerator& g) {
  for (int tries = 0; tries < 4 && g.Chance(60); ++tries) {
    const ValueId value = g.Operand(Domain::kFloat, 3, 4);
    if (g.ShapeOf(value)[1].IsConstant()) return Of(g, value);
  }
  return DrawImage(g);
}

/// A window with strides, dilations, and pads that may depend on the size.
struct SizedWindow {
  Ints kernel, strides, dilations;
  SizedShape pads;

  Attributes attributes() const {
    return {{"strides", strides}, {"pads", SizesAttribute(pads)}, {"dilations", dilations}};
  }
};

/// Sets the pads of axis `a` to zero, to constants, to what completes the last window, or to those
/// of the ONNX mode SAME.
void PadAxis(SizedGenerator& g, SizedWindow& window, size_t a, const Dim& size) {
  const int64_t kernel = window.kernel[a], stride = window.strides[a];
  const Dim reach = (kernel - 1) * window.dilations[a] + 1;
  Dim& begin = window.pads[a];
  Dim& end = window.pads[a + window.pads.size() / 2];
  switch (g.Below(4)) {
    case 1:
      begin = g.Between(0, kernel - 1);
      end = g.Between(0, kernel - 1);
      break;
    case 2:
      end = Dim::Mod(reach - size, stride);
      break;
    case 3: {
      const Dim total = Dim::Max(0, (Dim::CeilDiv(size, stride) - 1) * stride + reach - size);
      begin = Dim::FloorDiv(total + g.Below(2), 2);
      end = total - begin;
      break;
    }
    default:
      break;
  }
}

SizedWindow DrawSizedWindow(SizedGenerator& g, const Image& image) {
  SizedWindow window{.pads = SizedShape(2 * image.spatial(), 0)};
  for (size_t a = 0; a < image.spatial(); ++a) {
    const Dim& size = image.shape[a + 2];
    window.kernel.push_back(g.Between(1, std::clamp<int64_t>(g.Least(size), 1, 3)));
    window.strides.push_back(g.OneOf<int64_t>({1, 2, 2, 3}));
    window.dilations.push_back(g.Chance(85) ? 1 : 2);
    PadAxis(g, window, a, size);
  }
  return window;
}

Drawn ConvOf(SizedGenerator& g, const Image& image) {
  const SizedWindow window = DrawSizedWindow(g, image);
  SizedShape weight = {g.OneOf<int64_t>({1, 2, 4}), image.shape[1]};
  weight.insert(weight.end(), window.kernel.begin(), window.kernel.end());
  return g.Try(Op::kConv, {image.value, g.Table(image.type, weight)}, window.attributes());
}

Drawn PoolOf(SizedGenerator& g, const Image& image) {
  const SizedWindow window = DrawSizedWindow(g, image);
  const Op op = g.OneOf({Op::kMaxPool, Op::kAveragePool});
  Attributes attributes = window.attributes();
  attributes["kernel"] = window.kernel;
  if (op == Op::kAveragePool) attributes["count_include_pad"] = g.Below(2);
  return g.Try(op, {image.value}, attributes);
}

Drawn StridedConv(SizedGenerator& g) { return ConvOf(g, AnyImage(g)); }
Drawn StridedPool(SizedGenerator& g) { return PoolOf(g, AnyImage(g)); }

// Doubles an image by a transposed convolution, and perhaps removes the last row of an odd number.
Drawn Upwards(SizedGenerator& g) {
  const Image image = AnyImage(g);
  const size_t axes = image.spatial();
  SizedShape weight = {image.shape[1], g.Between(1, 3)};
  weight.insert(weight.end(), axes, 2);
  SizedShape pads(2 * axes, 0);
  if (g.Chance(30)) pads[axes] = Dim::Mod(image.shape[2], 2);
  return g.Try(Op::kConvTranspose, {image.value, g.Table(image.type, weight)},
               {{"strides", Ints(axes, 2)}, {"pads", SizesAttribute(pads)}});
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

// Applies a pool or convolution to an image and doubles the result. Pads or crops it to the image's
// size, and combines both images.
Drawn ThereAndBack(SizedGenerator& g) {
  const Image image = DrawImage(g);
  const size_t rank = image.shape.size();
  const Ints two(image.spatial(), 2);
  const Drawn small = g.Chance(40)
                          ? g.Try(Op::kMaxPool, {image.value}, {{"kernel", two}, {"strides", two}})
                      : g.Chance(50) ? PoolOf(g, image)
                                     : ConvOf(g, image);
  if (!small) return {};
  SizedShape twice = g.ShapeOf(*small), pads(2 * rank, 0);
  std::vector<double> scales(rank, 1);
  const bool before = g.Chance(30);
  for (size_t a = 2; a < rank; ++a) {
    scales[a] = 2;
    twice[a] = twice[a] * 2;
    pads[before ? a : a + rank] = image.shape[a] - twice[a];
  }
  Attributes manner = ResizeAttributes(g);
  manner["scales"] = scales;
  manner["shape"] = SizesAttribute(twice);
  const Drawn large = g.Try(Op::kResize, {*small}, manner);
  const Drawn fitted =
      large ? g.Try(Op::kPad, {*large}, {{"pads", SizesAttribute(pads)}}) : Drawn();
  if (!fitted) return {};
  return g.Chance(50) ? g.Try(Op::kConcat, {image.value, *fitted}, {{"axis", int64_t{1}}})
                      : g.Try(Op::kAdd, {image.value, *fitted});
}

Drawn Shuffle(SizedGenerator& g) {
  const Image image = AnyImage(g);
  if (image.channels() % 2 != 0 || image.spatial() != 1) return {};
  const Dim half = image.channels() / 2;
  const Drawn split = g.Reshape(image.value, {image.shape[0], half, 2, image.shape[2]});
  const Drawn turned =
      split ? g.Try(Op::kTranspose, {*split}, {{"perm", Ints{0, 1, 3, 2}}}) : Drawn();
  const Drawn flat =
      turned ? g.Reshape(*turned, {image.shape[0], half, image.shape[2] * 2}) : Drawn();
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
                                   {Pyramid, 4},     {ThereAndBack, 5}, {Shuffle, 1},
                                   {Normalised, 2}};

}  // namespace

std::span<const SizedRecipe> SizedImages() { return kImages; }

}  // namespace tunec::fuzz
