// Recipes that add matrix products, convolutions, attention and pooling to a random graph.
#include <algorithm>

#include "tests/fuzz/graph_generator.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostMultiplyAdds = 40000;

int64_t DivisorOf(GraphGenerator& g, int64_t number) {
  const int64_t divisor = g.Between(1, std::max<int64_t>(number, 1));
  return number % divisor == 0 ? divisor : 1;
}

}  // namespace

Made DrawMatmul(GraphGenerator& g, Op op) {
  const ValueId a = g.Operand(Domain::kNumber, 1, 4);
  const Ints shape = g.ShapeOf(a);
  const bool transpose_a = shape.size() > 1 && g.Chance(20);
  const bool transpose_b = g.Chance(30);
  const int64_t depth = transpose_a ? shape[shape.size() - 2] : shape.back();
  const int64_t columns = g.OneOf<int64_t>({1, 2, 3, 4, 5, 7, 8, 13});
  Ints other = transpose_b ? Ints{columns, depth} : Ints{depth, columns};
  if (g.Chance(10) && !transpose_b) other = {depth};
  if (shape.size() > 2 && other.size() == 2 && g.Chance(60)) {
    Ints batch(shape.begin() + g.Between(0, std::ssize(shape) - 2), shape.end() - 2);
    for (int64_t& size : batch)
      if (g.Chance(20)) size = 1;
    other.insert(other.begin(), batch.begin(), batch.end());
  }
  if (ElementCount(shape) * columns > kMostMultiplyAdds) return {};
  const ValueId b = g.Parameter(g.TypeOf(a), other);
  return g.Try(op, {a, b},
               {{"transpose_a", int64_t{transpose_a}}, {"transpose_b", int64_t{transpose_b}}});
}

Made DrawConv(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(g.Chance(90) ? Domain::kFloat : Domain::kNumber, 3, 5);
  const DataType type = g.TypeOf(x);
  const Ints shape = g.ShapeOf(x);
  const bool transposed = op == Op::kConvTranspose;
  DrawnWindow window = DrawWindow(g, shape, transposed);
  const int64_t channels = shape[1];
  const int64_t group = g.Chance(60) ? 1 : DivisorOf(g, channels);
  const int64_t per_group = g.OneOf<int64_t>({1, 2, 3, 4, 5, 8});
  const int64_t filters = per_group * group;
  Ints weight = transposed ? Ints{channels, per_group} : Ints{filters, channels / group};
  weight.insert(weight.end(), window.kernel.begin(), window.kernel.end());
  if (ElementCount(shape) * ElementCount(weight) > 4 * kMostMultiplyAdds) return {};
  std::vector<ValueId> inputs = {x, g.Parameter(type, weight)};
  if (g.Chance(50)) inputs.push_back(g.Parameter(type, {filters}));
  window.attributes["group"] = group;
  return g.Try(op, std::move(inputs), std::move(window.attributes));
}

// Adds causal attention, perhaps with a window, with enough rows for several blocks. Each block may
// hide other columns.
Made DrawCausalAttention(GraphGenerator& g, Op op) {
  const DataType type = g.TypeIn(Domain::kFloat);
  const int64_t queries = g.Between(17, 70), depth = g.Between(1, 3);
  const int64_t keys = g.Chance(50) ? queries : g.OneOf<int64_t>({5, 16, 33, 48, 80, 144, 256});
  const std::vector<ValueId> inputs = {g.OfType(type, {queries, depth}),
                                       g.OfType(type, {keys, depth}),
                                       g.OfType(type, {keys, g.Between(1, 3)})};
  return g.Try(op, inputs,
               {{"causal", int64_t{1}},
                {"causal_offset", g.Chance(50) ? 0 : g.Between(-3, 40)},
                {"window", g.Chance(50) ? 0 : g.Between(1, 60)},
                {"empty_rows", g.Chance(50) ? "nan" : "zero"}});
}

Made DrawAttention(GraphGenerator& g, Op op) {
  if (g.Chance(25)) return DrawCausalAttention(g, op);
  const ValueId q = g.Operand(Domain::kFloat, 2, 4);
  const Ints shape = g.ShapeOf(q);
  const size_t rank = shape.size();
  Ints keys = shape;
  keys[rank - 2] = g.OneOf<int64_t>({1, 2, 3, 5, 7, 8, 13, 17});
  if (rank > 2) keys[rank - 3] /= g.Chance(60) ? 1 : DivisorOf(g, keys[rank - 3]);
  Ints values = keys;
  values[rank - 1] = g.Between(1, 6);
  if (shape.back() == 0 || ElementCount(shape) * keys[rank - 2] > kMostMultiplyAdds) return {};
  std::vector<ValueId> inputs = {q, g.OfType(g.TypeOf(q), keys), g.OfType(g.TypeOf(q), values)};
  Ints scores = shape;
  scores[rank - 1] = keys[rank - 2];
  if (g.Chance(40))
    inputs.push_back(g.BroadcastingTo(g.Chance(50) ? DataType::kBool : g.TypeOf(q), scores));
  Attributes attributes = {{"empty_rows", g.Chance(50) ? "nan" : "zero"}};
  if (g.Chance(40)) attributes["scale"] = 0.25 * static_cast<double>(g.Between(1, 6));
  if (g.Chance(20)) attributes["softcap"] = 1.5;
  if (g.Chance(20)) attributes["hidden"] = -1e9;
  if (g.Chance(40)) {
    attributes["causal"] = int64_t{1};
    attributes["causal_offset"] = g.Between(-2, 9);
  }
  return g.Try(op, std::move(inputs), std::move(attributes));
}

Made DrawPool(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(SpecOf(op).domain, 3, 5);
  DrawnWindow window = DrawWindow(g, g.ShapeOf(x), false);
  window.attributes["kernel"] = window.kernel;
  if (op == Op::kAveragePool) window.attributes["count_include_pad"] = g.Below(2);
  return g.Try(op, {x}, std::move(window.attributes));
}

}  // namespace tunec::fuzz
