// Functions that add patterns of nodes as exporters write them. The order of operands varies, a
// division may be a multiplication by the inverse, and intermediate values may have further users.
#include <algorithm>
#include <cmath>

#include "tests/fuzz/graph_generator.h"

namespace tunec::fuzz {
namespace {

// A function object that adds a node of a pattern. It returns no value if an operand has no value
// or the node does not fit.
class Chain {
 public:
  Chain(GraphGenerator& g, DataType type) : g_(g), type_(type) {}

  Made operator()(Op op, std::vector<Made> inputs, Attributes attributes = {}) {
    std::vector<ValueId> values;
    for (const Made& input : inputs) {
      if (!input) return {};
      values.push_back(*input);
    }
    const bool commutes = op == Op::kAdd || op == Op::kMul;
    if (commutes && g_.Chance(50)) std::swap(values[0], values[1]);
    return g_.Try(op, std::move(values), std::move(attributes));
  }
  Made Number(double value) { return g_.Scalar(type_, value); }

 private:
  GraphGenerator& g_;
  DataType type_;
};

ValueId FloatOperand(GraphGenerator& g, int64_t least_rank = 0, int64_t most_rank = 5) {
  return g.Operand(Domain::kFloat, least_rank, most_rank);
}

Attributes Axes(const Ints& axes) { return {{"axes", axes}, {"keepdims", int64_t{1}}}; }

int64_t Last(GraphGenerator& g, ValueId x) { return std::ssize(g.ShapeOf(x)) - 1; }

Made GeluByErf(GraphGenerator& g) {
  const ValueId x = FloatOperand(g);
  Chain n(g, g.TypeOf(x));
  const Made scaled = g.Chance(50) ? n(Op::kDiv, {x, n.Number(1.4142135623730951)})
                                   : n(Op::kMul, {x, n.Number(0.7071067811865476)});
  const Made gate = n(Op::kAdd, {n(Op::kErf, {scaled}), n.Number(1)});
  if (g.Chance(33)) return n(Op::kMul, {n(Op::kMul, {x, gate}), n.Number(0.5)});
  if (g.Chance(50)) return n(Op::kMul, {n(Op::kMul, {x, n.Number(0.5)}), gate});
  return n(Op::kMul, {x, n(Op::kMul, {gate, n.Number(0.5)})});
}

Made GeluByTanh(GraphGenerator& g) {
  const ValueId x = FloatOperand(g);
  Chain n(g, g.TypeOf(x));
  const Made cube =
      g.Chance(50) ? n(Op::kPow, {x, n.Number(3)}) : n(Op::kMul, {x, n(Op::kMul, {x, x})});
  const Made inner = n(Op::kAdd, {x, n(Op::kMul, {cube, n.Number(0.044715)})});
  const Made tanh = n(Op::kTanh, {n(Op::kMul, {inner, n.Number(0.7978845608028654)})});
  return n(Op::kMul, {n(Op::kMul, {n.Number(0.5), x}), n(Op::kAdd, {tanh, n.Number(1)})});
}

Made SiluBySigmoid(GraphGenerator& g) {
  const ValueId x = FloatOperand(g);
  Chain n(g, g.TypeOf(x));
  return n(Op::kMul, {x, n(Op::kSigmoid, {x})});
}

Made LayerNormByMeans(GraphGenerator& g) {
  const ValueId x = FloatOperand(g, 1);
  const DataType type = g.TypeOf(x);
  Chain n(g, type);
  const int64_t last = Last(g, x);
  const int64_t size = g.ShapeOf(x)[last];
  const Made mean = n(Op::kReduceMean, {x}, Axes({last}));
  const Made centred = g.Chance(85) ? n(Op::kSub, {x, mean}) : Made(x);  // the latter is rms_norm
  const Made square =
      g.Chance(50) ? n(Op::kMul, {centred, centred}) : n(Op::kPow, {centred, n.Number(2)});
  const Made variance = n(Op::kReduceMean, {square}, Axes({last}));
  const Made deviation = n(Op::kSqrt, {n(Op::kAdd, {variance, n.Number(1e-3)})});
  const Made normal = n(Op::kDiv, {centred, deviation});
  const Made scaled = n(Op::kMul, {normal, g.Parameter(type, {size})});
  return g.Chance(70) ? n(Op::kAdd, {scaled, g.Parameter(type, {size})}) : scaled;
}

Made SoftmaxByExp(GraphGenerator& g) {
  const ValueId x = FloatOperand(g, 1);
  Chain n(g, g.TypeOf(x));
  const Attributes axes = Axes({g.Chance(70) ? Last(g, x) : g.Below(Last(g, x) + 1)});
  const Made shifted = g.Chance(70) ? n(Op::kSub, {x, n(Op::kReduceMax, {x}, axes)}) : Made(x);
  const Made e = n(Op::kExp, {shifted});
  return n(Op::kDiv, {e, n(Op::kReduceSum, {e}, axes)});
}

// Adds operators that can often be simplified, such as x + 0 or x - x.
Made NeutralElement(GraphGenerator& g) {
  const ValueId x = g.Operand(Domain::kNumber);
  Chain n(g, g.TypeOf(x));
  switch (g.Below(8)) {
    case 0:
      return n(Op::kAdd, {x, n.Number(g.OneOf({0.0, -0.0}))});
    case 1:
      return n(Op::kSub, {x, n.Number(g.OneOf({0.0, -0.0}))});
    case 2:
      return n(Op::kMul, {x, n.Number(g.OneOf({1.0, 0.0, -1.0}))});
    case 3:
      return n(Op::kDiv, {x, n.Number(g.OneOf({1.0, 2.0, -1.0}))});
    case 4:
      return n(Op::kSub, {x, x});
    case 5:
      return n(Op::kNeg, {n(Op::kNeg, {x})});
    case 6:
      return n(Op::kPow, {x, n.Number(g.OneOf({0.0, 1.0, 2.0, 0.5, -1.0}))});
    default:
      return n(Op::kMax, {n(Op::kMin, {x, n.Number(3)}), n.Number(-1)});
  }
}

Made InverseFunctions(GraphGenerator& g) {
  const ValueId x = FloatOperand(g);
  Chain n(g, g.TypeOf(x));
  switch (g.Below(6)) {
    case 0:
      return n(Op::kLog, {n(Op::kExp, {x})});
    case 1:
      return n(Op::kExp, {n(Op::kLog, {x})});
    case 2:
      return n(Op::kSqrt, {n(Op::kMul, {x, x})});
    case 3:
      return n(Op::kReciprocal, {n(Op::kSqrt, {n(Op::kAbs, {x})})});
    case 4:
      return n(Op::kDiv,
               {n.Number(1), n(Op::kAdd, {n(Op::kExp, {n(Op::kNeg, {x})}), n.Number(1)})});
    default:
      return n(Op::kLog, {n(Op::kAdd, {n(Op::kExp, {x}), n.Number(1)})});
  }
}

Made ConstantChain(GraphGenerator& g) {
  const ValueId x = g.Operand(Domain::kNumber);
  Chain n(g, g.TypeOf(x));
  const Op op = g.OneOf({Op::kAdd, Op::kMul, Op::kSub, Op::kMin, Op::kMax});
  const Made once = n(op, {x, n.Number(g.OneOf({2.0, 0.5, 3.0}))});
  return n(g.Chance(70) ? op : Op::kMul, {once, n.Number(g.OneOf({2.0, 0.25, 5.0}))});
}

Made CastThereAndBack(GraphGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  const auto to = [](DataType type) { return Attributes{{"to", std::string(Name(type))}}; };
  const Made there = g.Try(Op::kCast, {x}, to(g.TypeIn(Domain::kAny)));
  if (!there) return {};
  return g.Try(Op::kCast, {*there}, to(g.Chance(70) ? g.TypeOf(x) : g.TypeIn(Domain::kAny)));
}

Made TransposedTwice(GraphGenerator& g) {
  Made x = g.Operand(Domain::kAny, 2);
  const auto wide = g.ShapeOf(*x).size();
  for (int i = 0; i < 2 && x; ++i) {
    Ints perm(wide);
    for (size_t d = 0; d < wide; ++d) perm[d] = static_cast<int64_t>(d);
    std::swap(perm[g.Below(std::ssize(perm))], perm[g.Below(std::ssize(perm))]);
    x = g.Try(Op::kTranspose, {*x}, {{"perm", perm}});
    if (x && i == 0 && g.Chance(50)) x = g.Try(Op::kIdentity, {*x});
    if (x && i == 0 && g.Chance(50) && Contains(Domain::kNumber, g.TypeOf(*x)))
      x = g.Try(Op::kRelu, {*x});
  }
  return x;
}

Made ReshapedTwice(GraphGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const Ints shape = g.ShapeOf(x);
  const Made flat = g.Try(Op::kReshape, {x}, {{"shape", Ints{ElementCount(shape)}}});
  if (!flat) return {};
  const Made work =
      g.Chance(50) && Contains(Domain::kNumber, g.TypeOf(x)) ? g.Try(Op::kNeg, {*flat}) : flat;
  return g.Try(Op::kReshape, {work.value_or(*flat)}, {{"shape", shape}});
}

// Slices one value and joins the slices, perhaps in another order.
Made SlicedAndJoined(GraphGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const Ints shape = g.ShapeOf(x);
  const int64_t axis = g.Below(std::ssize(shape));
  if (shape[axis] < 2) return {};
  const int64_t cut = g.Between(1, shape[axis] - 1);
  const auto part = [&](int64_t begin, int64_t end) {
    Ints starts(shape.size(), 0), ends = shape;
    starts[axis] = begin;
    ends[axis] = end;
    return g.Try(Op::kSlice, {x}, {{"starts", starts}, {"ends", ends}});
  };
  Made low = part(0, cut), high = part(cut, shape[axis]);
  if (!low || !high) return {};
  if (g.Chance(40)) std::swap(low, high);
  if (g.Chance(30) && Contains(Domain::kNumber, g.TypeOf(x))) low = g.Try(Op::kNeg, {*low});
  return g.Try(Op::kConcat, {*low, *high}, {{"axis", axis}});
}

Made ConvWithNorm(GraphGenerator& g) {
  const DataType type = g.TypeIn(Domain::kFloat);
  const int64_t channels = g.Between(1, 5), size = g.Between(3, 7);
  const ValueId x = g.OfType(type, {g.Between(1, 2), channels, size, size});
  const int64_t filters = g.Between(1, 6);
  std::vector<ValueId> inputs = {x, g.Parameter(type, {filters, channels, 3, 3})};
  if (g.Chance(50)) inputs.push_back(g.Parameter(type, {filters}));
  Made y = g.Try(Op::kConv, inputs,
                 {{"pads", Ints(4, g.Below(2))}, {"strides", Ints(2, g.Between(1, 2))}});
  if (!y) return {};
  if (g.Chance(80)) {
    const auto vector = [&] { return g.Parameter(type, {filters}); };
    y = g.Try(Op::kBatchNorm, {*y, vector(), vector(), vector(), g.Positive(type, {filters})});
  }
  if (y && g.Chance(40)) y = g.Try(Op::kAdd, {*y, g.OfType(type, g.ShapeOf(*y))});
  if (y && g.Chance(70)) y = g.Try(g.OneOf({Op::kRelu, Op::kSilu, Op::kHardSwish}), {*y});
  return y;
}

// Adds a depthwise convolution, perhaps a bias and an activation, and a pointwise convolution.
Made SeparableConv(GraphGenerator& g) {
  const DataType type = g.TypeIn(Domain::kFloat);
  const int64_t channels = g.OneOf<int64_t>({2, 3, 8, 16, 17, 33, 48});
  const int64_t size = g.Between(3, 9), window = g.OneOf<int64_t>({1, 3, 3, 3, 5});
  const ValueId x = g.OfType(type, {g.Between(1, 2), channels, size, g.Between(3, 15)});
  std::vector<ValueId> inputs = {x, g.Parameter(type, {channels, 1, window, window})};
  if (g.Chance(60)) inputs.push_back(g.Parameter(type, {channels}));
  Made y = g.Try(Op::kConv, inputs,
                 {{"group", channels},
                  {"pads", Ints(4, g.Chance(70) ? window / 2 : 0)},
                  {"strides", Ints(2, g.Between(1, 2))}});
  if (y && g.Chance(70)) y = g.Try(g.OneOf({Op::kRelu, Op::kSilu, Op::kHardSwish}), {*y});
  if (!y) return {};
  const int64_t filters = g.OneOf<int64_t>({1, 5, 16, 24, 40});
  inputs = {*y, g.Parameter(type, {filters, channels, 1, 1})};
  if (g.Chance(60)) inputs.push_back(g.Parameter(type, {filters}));
  y = g.Try(Op::kConv, inputs, {{"strides", Ints(2, g.Chance(90) ? 1 : 2)}});
  if (y && g.Chance(30)) y = g.Try(Op::kAdd, {*y, g.OfType(type, g.ShapeOf(*y))});
  return y;
}

Made LinearLayer(GraphGenerator& g) {
  const ValueId x = FloatOperand(g, 2, 3);
  const DataType type = g.TypeOf(x);
  const int64_t depth = g.ShapeOf(x).back(), columns = g.Between(1, 9);
  Made y;
  if (g.Chance(50)) {
    y = g.Try(Op::kMatmul, {x, g.Parameter(type, {columns, depth})}, {{"transpose_b", int64_t{1}}});
  } else {
    const Made turned =
        g.Try(Op::kTranspose, {g.Parameter(type, {columns, depth})}, {{"perm", Ints{1, 0}}});
    if (turned) y = g.Try(Op::kMatmul, {x, *turned});
  }
  if (y && g.Chance(70)) y = g.Try(Op::kAdd, {*y, g.Parameter(type, {columns})});
  if (y && g.Chance(30)) y = g.Try(Op::kMul, {*y, g.Scalar(type, 0.5)});
  if (y && g.Chance(60)) y = g.Try(g.OneOf({Op::kRelu, Op::kGelu, Op::kTanh, Op::kSigmoid}), {*y});
  return y;
}

// Returns a causal mask, perhaps of windows or blocks. The mask is 0 for visible tokens, and else a
// number that hides the token.
ValueId Triangle(GraphGenerator& g, DataType type, int64_t tokens) {
  Array mask(type, {tokens, tokens});
  const double hidden = g.OneOf<double>({-INFINITY, -10000});
  const int64_t window = g.Chance(50) ? tokens : g.Between(1, 6);
  const int64_t block = g.Chance(50) ? tokens : g.Between(4, 10);
  for (int64_t k = 0; k < mask.size(); ++k) {
    const int64_t i = k / tokens, j = k % tokens;
    const bool visible = j <= i && i - j < window && i / block == j / block;
    mask.SetDouble(k, visible ? 0 : hidden);
  }
  return g.Constant(std::move(mask));
}

// Adds dot-product attention over heads. The three projections are slices of one product.
Made Attention(GraphGenerator& g) {
  const DataType type = g.TypeIn(Domain::kFloat);
  const int64_t batch = g.Between(1, 2), heads = g.Between(1, 2);
  const int64_t tokens = g.Chance(70) ? g.Between(1, 6) : g.Between(8, 20);
  const int64_t width = g.Between(1, 4), model = heads * width;
  const ValueId x = g.OfType(type, {batch, tokens, model});
  Made projected = g.Try(Op::kMatmul, {x, g.Parameter(type, {model, 3 * model})});
  if (!projected) return {};
  const auto head = [&](int64_t number) -> Made {
    const Made part = g.Try(Op::kSlice, {*projected},
                            {{"starts", Ints{0, 0, number * model}},
                             {"ends", Ints{batch, tokens, (number + 1) * model}}});
    if (!part) return {};
    const Made split = g.Try(Op::kReshape, {*part}, {{"shape", Ints{batch, tokens, heads, width}}});
    return split ? g.Try(Op::kTranspose, {*split}, {{"perm", Ints{0, 2, 1, 3}}}) : Made();
  };
  const Made q = head(0), k = head(1), v = head(2);
  if (!q || !k || !v) return {};
  Made scores = g.Try(Op::kMatmul, {*q, *k}, {{"transpose_b", int64_t{1}}});
  if (scores && g.Chance(80))
    scores = g.Chance(50) ? g.Try(Op::kMul, {*scores, g.Scalar(type, 0.5)})
                          : g.Try(Op::kDiv, {*scores, g.Scalar(type, 2)});
  if (scores && g.Chance(50))
    scores = g.Try(Op::kAdd, {*scores, g.Parameter(type, {tokens, tokens})});
  if (scores && g.Chance(30)) scores = g.Try(Op::kAdd, {*scores, Triangle(g, type, tokens)});
  if (scores) scores = g.Try(Op::kSoftmax, {*scores}, {{"axis", int64_t{3}}});
  const Made mixed = scores ? g.Try(Op::kMatmul, {*scores, *v}) : Made();
  if (!mixed) return {};
  const Made back = g.Try(Op::kTranspose, {*mixed}, {{"perm", Ints{0, 2, 1, 3}}});
  return back ? g.Try(Op::kReshape, {*back}, {{"shape", Ints{batch, tokens, model}}}) : Made();
}

// Adds two or three products of the same left operand, which a pass may merge.
Made ParallelProducts(GraphGenerator& g) {
  const ValueId x = FloatOperand(g, 2, 3);
  const DataType type = g.TypeOf(x);
  const int64_t depth = g.ShapeOf(x).back();
  Made last;
  for (int64_t i = g.Between(2, 3); i > 0; --i) {
    last = g.Try(Op::kMatmul, {x, g.Parameter(type, {depth, g.Between(1, 5)})});
    if (last && g.Chance(50)) last = g.Try(Op::kRelu, {*last});
  }
  return last;
}

// Adds the same node twice and combines both results.
Made CommonSubexpression(GraphGenerator& g) {
  const ValueId x = FloatOperand(g);
  const Op op = g.OneOf({Op::kExp, Op::kTanh, Op::kNeg, Op::kAbs});
  const Made a = g.Try(op, {x}), b = g.Try(op, {x});
  return a && b ? g.Try(g.OneOf({Op::kAdd, Op::kSub, Op::kMul, Op::kDiv}), {*a, *b}) : Made();
}

Made MeanBySum(GraphGenerator& g) {
  const ValueId x = FloatOperand(g, 1);
  Chain n(g, g.TypeOf(x));
  const int64_t last = Last(g, x);
  const auto size = static_cast<double>(g.ShapeOf(x)[last]);
  const Made sum = n(Op::kReduceSum, {x}, Axes({last}));
  return size == 0 ? sum : n(Op::kDiv, {sum, n.Number(size)});
}

constexpr Phrase kPhrases[] = {
    GeluByErf,       GeluByTanh,       SiluBySigmoid,       LayerNormByMeans, SoftmaxByExp,
    NeutralElement,  NeutralElement,   InverseFunctions,    ConstantChain,    CastThereAndBack,
    TransposedTwice, ReshapedTwice,    SlicedAndJoined,     ConvWithNorm,     LinearLayer,
    Attention,       ParallelProducts, CommonSubexpression, MeanBySum,        SeparableConv,
};

}  // namespace

std::span<const Phrase> Phrases() { return kPhrases; }

}  // namespace tunec::fuzz
