#include "bench/front_end/large_graphs.h"

#include <utility>
#include <vector>

#include "support/check.h"
#include "support/random.h"

namespace tunec::bench {
namespace {

using Ints = std::vector<int64_t>;

class Writer {
 public:
  explicit Writer(std::string name) : builder_(std::move(name)) {}

  ValueId Input(const Ints& shape) {
    const auto input = builder_.AddInput("x" + std::to_string(inputs_++),
                                         {DataType::kF32, {shape.begin(), shape.end()}});
    TUNEC_CHECK(input.has_value(), "{}", input.error().message);
    return *input;
  }
  ValueId Weight(const Ints& shape) {
    Array array(DataType::kF32, shape);
    for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, random_.Unit());
    return builder_.AddConstant("w", std::move(array));
  }
  ValueId Scalar(double value) {
    Array array(DataType::kF32, {});
    array.SetDouble(0, value);
    return builder_.AddConstant("c", std::move(array));
  }
  ValueId operator()(Op op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto value = builder_.Add(op, std::move(inputs), std::move(attributes));
    TUNEC_CHECK(value.has_value(), "{}", value.error().message);
    nodes_ += 1;
    return *value;
  }
  int64_t nodes() const { return nodes_; }
  Graph Build(const std::vector<ValueId>& outputs) && {
    for (const ValueId output : outputs) builder_.AddOutput(output);
    return std::move(builder_).Build();
  }

 private:
  GraphBuilder builder_;
  Random random_{1};
  int inputs_ = 0;
  int64_t nodes_ = 0;
};

Graph Chain(int64_t nodes) {
  Writer w("chain");
  constexpr Op kOps[] = {Op::kTanh, Op::kAbs, Op::kExp, Op::kNeg, Op::kRelu, Op::kSigmoid};
  ValueId x = w.Input({64});
  while (w.nodes() < nodes) x = w(kOps[w.nodes() % 6], {x});
  return std::move(w).Build({x});
}

// Makes a binary tree of additions.
Graph Tree(int64_t nodes) {
  Writer w("tree");
  std::vector<ValueId> level;
  for (int64_t i = 0; i < nodes / 2; ++i) level.push_back(w(Op::kTanh, {w.Input({16})}));
  while (level.size() > 1) {
    std::vector<ValueId> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(w(Op::kAdd, {level[i], level[i + 1]}));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = std::move(next);
  }
  return std::move(w).Build(level);
}

// Makes one value that is multiplied by many weights, and adds the products in sequence.
Graph FanOut(int64_t nodes) {
  Writer w("fan_out");
  const ValueId x = w(Op::kExp, {w.Input({64})});
  ValueId sum = x;
  while (w.nodes() < nodes) sum = w(Op::kAdd, {sum, w(Op::kMul, {x, w.Weight({64})})});
  return std::move(w).Build({sum});
}

Graph ManyOutputs(int64_t nodes) {
  Writer w("many_outputs");
  const ValueId x = w.Input({64});
  const ValueId shared = w.Weight({64, 64});
  std::vector<ValueId> outputs;
  while (w.nodes() < nodes)
    outputs.push_back(w(Op::kRelu, {w(Op::kMatmul, {w(Op::kAdd, {x, w.Weight({64})}), shared})}));
  return std::move(w).Build(outputs);
}

Graph Residual(int64_t nodes) {
  Writer w("residual");
  ValueId x = w.Input({1, 8, 8, 8});
  const auto normalised = [&](ValueId value) {
    const ValueId conv =
        w(Op::kConv, {value, w.Weight({8, 8, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
    return w(Op::kBatchNorm, {conv, w.Weight({8}), w.Weight({8}), w.Weight({8}), w.Weight({8})});
  };
  while (w.nodes() < nodes) {
    const ValueId inner = w(Op::kRelu, {normalised(x)});
    x = w(Op::kRelu, {w(Op::kAdd, {normalised(inner), x})});
  }
  return std::move(w).Build({x});
}

ValueId LayerNorm(Writer& w, ValueId x, int64_t width) {
  const Attributes last = {{"axes", Ints{-1}}};
  const ValueId centred = w(Op::kSub, {x, w(Op::kReduceMean, {x}, last)});
  const ValueId square = w(Op::kMul, {centred, centred});
  const ValueId variance = w(Op::kReduceMean, {square}, last);
  const ValueId deviation = w(Op::kSqrt, {w(Op::kAdd, {variance, w.Scalar(1e-5)})});
  const ValueId scaled = w(Op::kMul, {w(Op::kDiv, {centred, deviation}), w.Weight({width})});
  return w(Op::kAdd, {scaled, w.Weight({width})});
}

ValueId Gelu(Writer& w, ValueId x) {
  const ValueId erf = w(Op::kErf, {w(Op::kDiv, {x, w.Scalar(1.41421354)})});
  return w(Op::kMul, {w(Op::kMul, {x, w(Op::kAdd, {erf, w.Scalar(1)})}), w.Scalar(0.5)});
}

// Makes transformer blocks as exporters write them: normalisations, activations and attention in
// primitives.
Graph Transformer(int64_t nodes) {
  Writer w("transformer");
  constexpr int64_t kTokens = 8, kHeads = 2, kWidth = 4, kModel = kHeads * kWidth;
  ValueId x = w.Input({1, kTokens, kModel});
  const auto linear = [&](ValueId value, int64_t in, int64_t out) {
    return w(Op::kAdd, {w(Op::kMatmul, {value, w.Weight({in, out})}), w.Weight({out})});
  };
  const auto heads = [&](ValueId value) {
    const ValueId split = w(Op::kReshape, {linear(value, kModel, kModel)},
                            {{"shape", Ints{1, kTokens, kHeads, kWidth}}});
    return w(Op::kTranspose, {split}, {{"perm", Ints{0, 2, 1, 3}}});
  };
  while (w.nodes() < nodes) {
    const ValueId normal = LayerNorm(w, x, kModel);
    const ValueId q = heads(normal), k = heads(normal), v = heads(normal);
    const ValueId turned = w(Op::kTranspose, {k}, {{"perm", Ints{0, 1, 3, 2}}});
    const ValueId scores = w(Op::kDiv, {w(Op::kMatmul, {q, turned}), w.Scalar(2)});
    const ValueId weights = w(Op::kSoftmax, {scores}, {{"axis", int64_t{3}}});
    const ValueId mixed =
        w(Op::kTranspose, {w(Op::kMatmul, {weights, v})}, {{"perm", Ints{0, 2, 1, 3}}});
    const ValueId joined = w(Op::kReshape, {mixed}, {{"shape", Ints{1, kTokens, kModel}}});
    x = w(Op::kAdd, {x, linear(joined, kModel, kModel)});
    const ValueId hidden = Gelu(w, linear(LayerNorm(w, x, kModel), kModel, 4 * kModel));
    x = w(Op::kAdd, {x, linear(hidden, 4 * kModel, kModel)});
  }
  return std::move(w).Build({x});
}

// Makes reshapes, transposes, slices and concatenations, with a tanh after each concatenation.
Graph Movement(int64_t nodes) {
  Writer w("movement");
  ValueId x = w.Input({4, 6, 8});
  while (w.nodes() < nodes) {
    const ValueId flat = w(Op::kReshape, {x}, {{"shape", Ints{24, 8}}});
    const ValueId turned = w(Op::kTranspose, {flat}, {{"perm", Ints{1, 0}}});
    const ValueId back = w(Op::kTranspose, {turned}, {{"perm", Ints{1, 0}}});
    const auto half = [&](int64_t begin) {
      return w(Op::kSlice, {back}, {{"starts", Ints{begin, 0}}, {"ends", Ints{begin + 12, 8}}});
    };
    const ValueId joined = w(Op::kConcat, {half(12), half(0)}, {{"axis", int64_t{0}}});
    x = w(Op::kReshape, {w(Op::kTanh, {joined})}, {{"shape", Ints{4, 6, 8}}});
  }
  return std::move(w).Build({x});
}

// Makes operators on constants, operators without effect, and equal nodes.
Graph Foldable(int64_t nodes) {
  Writer w("foldable");
  ValueId x = w.Input({16});
  while (w.nodes() < nodes) {
    const ValueId constant = w(Op::kMul, {w(Op::kExp, {w.Weight({16})}), w.Scalar(0.5)});
    const ValueId a = w(Op::kAdd, {x, w.Scalar(0.0)}), b = w(Op::kMul, {a, w.Scalar(1.0)});
    const ValueId c = w(Op::kTanh, {b}), d = w(Op::kTanh, {b});
    x = w(Op::kAdd, {w(Op::kMul, {c, d}), constant});
  }
  return std::move(w).Build({x});
}

constexpr LargeGraph kGraphs[] = {
    {"chain", Chain},       {"tree", Tree},
    {"fan_out", FanOut},    {"many_outputs", ManyOutputs},
    {"residual", Residual}, {"transformer", Transformer},
    {"movement", Movement}, {"foldable", Foldable},
};

}  // namespace

std::span<const LargeGraph> LargeGraphs() { return kGraphs; }

}  // namespace tunec::bench
