// Recipes that add reductions, normalisations and rotary embeddings to a random graph.
#include <algorithm>

#include "tests/fuzz/graph_generator.h"

namespace tunec::fuzz {
namespace {

int64_t AxisOf(GraphGenerator& g, ValueId value) { return g.Below(std::ssize(g.ShapeOf(value))); }

double Epsilon(GraphGenerator& g) { return g.OneOf({1e-5, 1e-3, 0.25}); }

}  // namespace

Made DrawReduction(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(SpecOf(op).domain);
  Ints axes;
  for (int64_t a = 0; a < std::ssize(g.ShapeOf(x)); ++a)
    if (g.Chance(45)) axes.push_back(a);
  return g.Try(op, {x}, {{"axes", axes}, {"keepdims", g.Below(2)}});
}

Made DrawArgReduction(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(SpecOf(op).domain, 1);
  return g.Try(
      op, {x},
      {{"axis", AxisOf(g, x)}, {"keepdims", g.Below(2)}, {"select_last_index", g.Below(2)}});
}

Made DrawCumSum(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(SpecOf(op).domain, 1);
  return g.Try(op, {x},
               {{"axis", AxisOf(g, x)}, {"exclusive", g.Below(2)}, {"reverse", g.Below(2)}});
}

Made DrawChannelNorm(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kFloat, 2);
  const DataType type = g.TypeOf(x);
  const int64_t channels = g.ShapeOf(x)[1];
  std::vector<ValueId> inputs = {x, g.Parameter(type, {channels}), g.Parameter(type, {channels})};
  Attributes attributes = {{"epsilon", Epsilon(g)}};
  if (op == Op::kBatchNorm) {
    inputs.push_back(g.Parameter(type, {channels}));
    inputs.push_back(g.Positive(type, {channels}));
  }
  if (op == Op::kGroupNorm) {
    const int64_t groups = g.Between(1, std::max<int64_t>(channels, 1));
    attributes["groups"] = channels % groups == 0 ? groups : 1;
  }
  return g.Try(op, std::move(inputs), std::move(attributes));
}

Made DrawAxisNorm(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  const DataType type = g.TypeOf(x);
  const Ints shape = g.ShapeOf(x);
  const int64_t axis = g.Chance(60) ? std::ssize(shape) - 1 : AxisOf(g, x);
  const Ints normalised(shape.begin() + axis, shape.end());
  std::vector<ValueId> inputs = {x, g.Parameter(type, normalised)};
  if (op == Op::kLayerNorm && g.Chance(70)) inputs.push_back(g.Parameter(type, normalised));
  return g.Try(op, std::move(inputs), {{"axis", axis}, {"epsilon", Epsilon(g)}});
}

Made DrawLrn(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kFloat, 2);
  return g.Try(op, {x},
               {{"size", g.Between(1, 5)},
                {"alpha", g.OneOf({1e-4, 0.5})},
                {"beta", g.OneOf({0.75, 0.5})},
                {"bias", g.OneOf({1.0, 2.0})}});
}

// Adds a rotary embedding with cosines and sines for each element, for each pair, or for some pairs
// only. Several rows may share their cosines and sines.
Made DrawRotary(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  Ints shape = g.ShapeOf(x);
  const int64_t size = shape.back();
  if (size < 2) return {};
  const bool each = size % 2 == 0 && g.Chance(40);
  shape.back() = each ? size : g.Chance(60) ? size / 2 : g.Between(1, size / 2);
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    if (g.Chance(40)) shape[d] = 1;
  const DataType type = g.TypeOf(x);
  return g.Try(op, {x, g.Parameter(type, shape), g.Parameter(type, shape)},
               {{"interleaved", g.Between(0, 1)}});
}

Made DrawSoftmax(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  return g.Try(op, {x}, {{"axis", AxisOf(g, x)}});
}

}  // namespace tunec::fuzz
