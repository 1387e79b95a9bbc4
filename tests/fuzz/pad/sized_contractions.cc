// Recipes that add matrix products, attention, convolutions and pooling to a model.
#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostMultiplyAdds = 60000;

Drawn Matmul(SizedGenerator& g) {
  const ValueId a = g.Operand(Domain::kNumber, 1);
  const SizedShape shape = g.ShapeOf(a);
  const bool transpose_a = shape.size() > 1 && g.Chance(20);
  const bool transpose_b = g.Chance(30);
  const Dim depth = transpose_a ? shape[shape.size() - 2] : shape.back();
  const Dim columns = g.Axis();
  SizedShape other = transpose_b ? SizedShape{columns, depth} : SizedShape{depth, columns};
  if (g.Chance(10) && !transpose_b) other = {depth};
  if (shape.size() > 2 && other.size() == 2 && g.Chance(60)) {
    SizedShape batch(shape.begin() + g.Between(0, std::ssize(shape) - 2), shape.end() - 2);
    for (Dim& size : batch)
      if (g.Chance(20)) size = 1;
    other.insert(other.begin(), batch.begin(), batch.end());
  }
  if (g.BucketElements(shape) * g.At(columns, kBucket) > kMostMultiplyAdds) return {};
  const ValueId b = g.Parameter(g.TypeOf(a), other);
  return g.Try(Op::kMatmul, {a, b},
               {{"transpose_a", int64_t{transpose_a}}, {"transpose_b", int64_t{transpose_b}}});
}

// Adds an attention. The numbers of queries and keys, the mask's sizes and the causal offset may be
// dynamic.
Drawn Attention(SizedGenerator& g) {
  const ValueId q = g.Operand(Domain::kFloat, 2);
  const DataType type = g.TypeOf(q);
  const SizedShape shape = g.ShapeOf(q);
  const size_t rank = shape.size();
  if (!shape.back().IsConstant() && g.Chance(85)) return {};  // most heads have a fixed size
  SizedShape keys = shape;
  if (g.Chance(50)) keys[rank - 2] = g.Axis();
  if (rank > 2 && g.Chance(25)) keys[rank - 3] = 1;
  SizedShape values = keys;
  values[rank - 1] = g.Chance(85) ? Dim(g.Between(1, 5)) : g.Axis();
  if (g.BucketElements(shape) * g.At(keys[rank - 2], kBucket) > kMostMultiplyAdds) return {};
  std::vector<ValueId> inputs = {q, g.OfType(type, keys), g.OfType(type, values)};
  SizedShape scores = shape;
  scores[rank - 1] = keys[rank - 2];
  if (g.Chance(50))
    inputs.push_back(g.BroadcastingTo(g.Chance(50) ? DataType::kBool : type, scores));
  Attributes attributes = {{"empty_rows", g.Chance(50) ? "nan" : "zero"}};
  if (g.Chance(75)) attributes["scale"] = 0.25 * static_cast<double>(g.Between(1, 6));
  if (g.Chance(15)) attributes["softcap"] = 1.5;
  if (g.Chance(25)) attributes["hidden"] = g.OneOf({-1e9, -4.0, 2.0});
  if (g.Chance(45)) {
    attributes["causal"] = int64_t{1};
    attributes["causal_offset"] = SizeAttribute(g.Chance(30)   ? keys[rank - 2] - shape[rank - 2]
                                                : g.Chance(60) ? 0
                                                               : g.Between(-2, 5));
  }
  return g.Try(Op::kAttention, inputs, attributes);
}

// Returns the random window that DrawWindow makes for the smallest size of each axis.
DrawnWindow WindowFor(SizedGenerator& g, const SizedShape& image, bool transposed) {
  Ints least;
  for (const Dim& size : image) least.push_back(g.Least(size));
  return DrawWindow(g, least, transposed);
}

Drawn Conv(SizedGenerator& g) {
  const ValueId x = g.Operand(g.Chance(90) ? Domain::kFloat : Domain::kNumber, 3);
  const DataType type = g.TypeOf(x);
  const SizedShape shape = g.ShapeOf(x);
  const bool transposed = g.Chance(30);
  DrawnWindow window = WindowFor(g, shape, transposed);
  if (!shape[1].IsConstant()) return {};
  const int64_t channels = shape[1].Value();
  const bool depthwise = g.Chance(30);
  const int64_t outputs = depthwise ? channels : g.OneOf<int64_t>({1, 2, 3, 4});
  const int64_t group = depthwise ? channels : 1;
  SizedShape weight =
      transposed ? SizedShape{channels, outputs / group} : SizedShape{outputs, channels / group};
  weight.insert(weight.end(), window.kernel.begin(), window.kernel.end());
  if (g.BucketElements(shape) * g.BucketElements(weight) > 4 * kMostMultiplyAdds) return {};
  std::vector<ValueId> inputs = {x, g.Parameter(type, weight)};
  if (g.Chance(50)) inputs.push_back(g.Parameter(type, {outputs}));
  window.attributes["group"] = group;
  return g.Try(transposed ? Op::kConvTranspose : Op::kConv, inputs, window.attributes);
}

Drawn Pool(SizedGenerator& g) {
  const Op op = g.OneOf({Op::kMaxPool, Op::kAveragePool});
  const ValueId x = g.Operand(op == Op::kMaxPool ? Domain::kNumber : Domain::kFloat, 3);
  DrawnWindow window = WindowFor(g, g.ShapeOf(x), false);
  window.attributes["kernel"] = window.kernel;
  if (op == Op::kAveragePool) window.attributes["count_include_pad"] = g.Below(2);
  return g.Try(op, {x}, window.attributes);
}

// Adds a pool whose window has the size of the image.
Drawn GlobalPool(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 3);
  const SizedShape shape = g.ShapeOf(x);
  return g.Try(g.OneOf({Op::kMaxPool, Op::kAveragePool}), {x},
               {{"kernel", SizesAttribute({shape.begin() + 2, shape.end()})}});
}

constexpr SizedRecipe kContractions[] = {
    {Matmul, 7}, {Attention, 7}, {Conv, 5}, {Pool, 3}, {GlobalPool, 1}};

}  // namespace

std::span<const SizedRecipe> SizedContractions() { return kContractions; }

}  // namespace tunec::fuzz
