// Recipes that add patterns of real models, many with dynamic batches and sequence lengths.
#include <algorithm>

#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

Attributes Axes(int64_t axis) { return {{"axes", Ints{axis}}, {"keepdims", int64_t{1}}}; }

// The hidden states of a batch of sequences, [batch, length, width].
struct States {
  ValueId value;
  DataType type = DataType::kF32;
  Dim batch, length;
  int64_t width = 1;
  SizedShape shape() const { return {batch, length, width}; }
};

States DrawStates(SizedGenerator& g, int64_t width) {
  States states{.value = {}, .type = g.TypeIn(Domain::kFloat), .width = width};
  states.batch = g.Axis();
  states.length = g.Dimension();
  states.value = g.OfType(states.type, states.shape());
  return states;
}

Drawn MeanBySum(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  const int64_t axis = g.AnyAxis(x);
  const DataType type = g.TypeOf(x);
  const ValueId size = g.SizedScalar(type, g.ShapeOf(x)[axis]);
  const Drawn sum = g.Try(Op::kReduceSum, {x}, Axes(axis));
  if (!sum) return {};
  if (g.Chance(50)) return g.Try(Op::kDiv, {*sum, size});
  const Drawn inverse = g.Try(Op::kReciprocal, {size});
  return inverse ? g.Try(Op::kMul, {*sum, *inverse}) : Drawn();
}

Drawn LayerNormByMeans(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  const int64_t axis = g.AnyAxis(x);
  const Drawn mean = g.Try(Op::kReduceMean, {x}, Axes(axis));
  const Drawn centred = mean ? g.Try(Op::kSub, {x, *mean}) : Drawn();
  const Drawn square = centred ? g.Try(Op::kMul, {*centred, *centred}) : Drawn();
  const Drawn variance = square ? g.Try(Op::kReduceMean, {*square}, Axes(axis)) : Drawn();
  const Drawn shifted =
      variance ? g.Try(Op::kAdd, {*variance, g.Scalar(g.TypeOf(x), 0.25)}) : Drawn();
  const Drawn deviation = shifted ? g.Try(Op::kSqrt, {*shifted}) : Drawn();
  return deviation ? g.Try(Op::kDiv, {*centred, *deviation}) : Drawn();
}

Drawn SoftmaxByExp(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  const int64_t axis = g.AnyAxis(x);
  const Drawn most = g.Try(Op::kReduceMax, {x}, Axes(axis));
  const Drawn shifted = most ? g.Try(Op::kSub, {x, *most}) : Drawn();
  const Drawn e = shifted ? g.Try(Op::kExp, {*shifted}) : Drawn();
  const Drawn sum = e ? g.Try(Op::kReduceSum, {*e}, Axes(axis)) : Drawn();
  return sum ? g.Try(Op::kDiv, {*e, *sum}) : Drawn();
}

Drawn Linear(SizedGenerator& g) {
  const States x = DrawStates(g, g.OneOf<int64_t>({1, 2, 3, 4}));
  const int64_t columns = g.Between(1, 5);
  Drawn y = x.value;
  const bool flat = g.Chance(40);
  if (flat) y = g.Reshape(x.value, {x.batch * x.length, x.width});
  if (y) y = g.Try(Op::kMatmul, {*y, g.Table(x.type, {x.width, columns})});
  if (y) y = g.Try(Op::kAdd, {*y, g.Table(x.type, {columns})});
  if (y && flat) y = g.Reshape(*y, {x.batch, x.length, columns});
  return y ? g.Try(g.OneOf({Op::kRelu, Op::kGelu, Op::kTanh}), {*y}) : Drawn();
}

// Sums rows of a table, chosen by token ids, and rows of another table, chosen by positions.
Drawn Embedding(SizedGenerator& g) {
  const DataType type = g.TypeIn(Domain::kFloat);
  const Dim batch = g.Axis(), length = g.Dimension();
  const int64_t width = g.Between(1, 4);
  const ValueId ids = g.Input(DataType::kI64, {batch, length}, "index");
  const Drawn tokens = g.Try(Op::kGather, {g.Table(type, {7, width}), ids}, {{"axis", int64_t{0}}});
  const ValueId places = g.Table(type, {20, width});
  Drawn positions;
  if (g.Chance(50)) {
    positions = g.Try(Op::kSlice, {places},
                      {{"starts", Ints{0, 0}}, {"ends", SizesAttribute({length, width})}});
  } else {
    const ValueId counted = g.Counted(DataType::kI64, {1, length}, 1, 0, 1);
    positions = g.Try(Op::kGather, {places, counted}, {{"axis", int64_t{0}}});
  }
  return tokens && positions ? g.Try(Op::kAdd, {*tokens, *positions}) : Drawn();
}

// Computes a causal boolean mask from ranges, or slices it from a constant. It is true for visible
// tokens. With more keys than tokens, the mask may count from the end.
Drawn Triangle(SizedGenerator& g, const Dim& length, const Dim& keys) {
  const Dim start = g.Chance(30) ? keys - length : 0;
  if (g.Chance(60)) {
    const ValueId rows = g.Counted(DataType::kI64, {length, 1}, 0, start, 1);
    const ValueId columns = g.Counted(DataType::kI64, {1, keys}, 1, 0, 1);
    return g.Try(Op::kLe, {columns, rows});
  }
  const int64_t most = std::max(g.Most(length), g.Most(keys));
  const ValueId whole = g.Constant(DataType::kBool, {most, most}, [](const Ints& position) {
    return position[1] <= position[0] ? 1.0 : 0.0;
  });
  return g.Try(
      Op::kSlice, {whole},
      {{"starts", SizesAttribute({start, 0})}, {"ends", SizesAttribute({start + length, keys})}});
}

Drawn Heads(SizedGenerator& g, const States& x, ValueId value, int64_t heads) {
  const Drawn split = g.Reshape(value, {x.batch, x.length, heads, x.width / heads});
  return split ? g.Try(Op::kTranspose, {*split}, {{"perm", Ints{0, 2, 1, 3}}}) : Drawn();
}

// Hides the scores of later tokens or of those that an input hides, by a selection or a sum.
Drawn Masked(SizedGenerator& g, const States& x, ValueId scores) {
  if (g.Chance(40)) {
    const ValueId mask = g.Input(x.type, {x.batch, x.length});
    const Drawn wide = g.Reshape(mask, {x.batch, 1, 1, x.length});
    return wide ? g.Try(Op::kAdd, {scores, *wide}) : Drawn();
  }
  const Drawn seen = Triangle(g, x.length, x.length);
  if (!seen) return {};
  const ValueId hidden = g.Scalar(x.type, g.OneOf<double>({-INFINITY, -10000}));
  if (g.Chance(50)) return g.Try(Op::kWhere, {*seen, scores, hidden});
  const Drawn bias = g.Try(Op::kWhere, {*seen, g.Scalar(x.type, 0), hidden});
  return bias ? g.Try(Op::kAdd, {scores, *bias}) : Drawn();
}

Drawn SelfAttention(SizedGenerator& g) {
  const int64_t heads = g.Between(1, 2);
  const States x = DrawStates(g, heads * g.Between(1, 3));
  const auto head = [&]() -> Drawn {
    const Drawn projected = g.Try(Op::kMatmul, {x.value, g.Table(x.type, {x.width, x.width})});
    return projected ? Heads(g, x, *projected, heads) : Drawn();
  };
  const Drawn q = head(), k = head(), v = head();
  if (!q || !k || !v) return {};
  Drawn mixed;
  if (g.Chance(50)) {
    Drawn scores = g.Try(Op::kMatmul, {*q, *k}, {{"transpose_b", int64_t{1}}});
    if (scores && g.Chance(70)) scores = Masked(g, x, *scores);
    if (scores) scores = g.Try(Op::kSoftmax, {*scores}, {{"axis", int64_t{3}}});
    if (scores) mixed = g.Try(Op::kMatmul, {*scores, *v});
  } else {
    std::vector<ValueId> inputs = {*q, *k, *v};
    if (g.Chance(50)) inputs.push_back(g.Input(DataType::kBool, {x.batch, 1, 1, x.length}));
    mixed = g.Try(Op::kAttention, inputs, {{"scale", 0.5}, {"causal", g.Below(2)}});
  }
  const Drawn back =
      mixed ? g.Try(Op::kTranspose, {*mixed}, {{"perm", Ints{0, 2, 1, 3}}}) : Drawn();
  return back ? g.Reshape(*back, x.shape()) : Drawn();
}

// Divides the sum of the masked states by the larger of 1 and the sum of the mask.
Drawn MaskedMean(SizedGenerator& g) {
  const States x = DrawStates(g, g.Between(1, 4));
  const ValueId mask = g.OfType(x.type, {x.batch, x.length, 1});
  const Drawn masked = g.Try(Op::kMul, {x.value, mask});
  const Drawn sum = masked ? g.Try(Op::kReduceSum, {*masked}, Axes(1)) : Drawn();
  const Drawn count = g.Try(Op::kReduceSum, {mask}, Axes(1));
  const Drawn some = count ? g.Try(Op::kMax, {*count, g.Scalar(x.type, 1)}) : Drawn();
  return sum && some ? g.Try(Op::kDiv, {*sum, *some}) : Drawn();
}

// Returns the state of the last token, or of the token with the greatest id.
Drawn OneToken(SizedGenerator& g) {
  const States x = DrawStates(g, g.Between(1, 4));
  if (g.Chance(50))
    return g.Try(
        Op::kSlice, {x.value},
        {{"starts", SizesAttribute({0, x.length - 1, 0})}, {"ends", SizesAttribute(x.shape())}});
  const ValueId ids = g.Input(DataType::kI64, {x.batch, x.length});
  const Drawn last = g.Try(Op::kArgMax, {ids}, {{"axis", int64_t{1}}, {"keepdims", int64_t{1}}});
  const Drawn column = last ? g.Reshape(*last, {x.batch, 1, 1}) : Drawn();
  if (!column) return {};
  const Drawn wide =
      g.Try(Op::kExpand, {*column}, {{"shape", SizesAttribute({x.batch, 1, x.width})}});
  return wide ? g.Try(Op::kGatherElements, {x.value, *wide}, {{"axis", int64_t{1}}}) : Drawn();
}

// Computes position ids by a cumulative sum of a mask, and gathers rows of a table with them.
Drawn CountedPositions(SizedGenerator& g) {
  const Dim batch = g.Axis(), length = g.Dimension();
  const ValueId mask = g.Input(DataType::kBool, {batch, length});
  const Drawn number = g.Try(Op::kCast, {mask}, {{"to", std::string("i64")}});
  const Drawn sums = number ? g.Try(Op::kCumSum, {*number}, {{"axis", int64_t{1}}}) : Drawn();
  const Drawn places = sums ? g.Try(Op::kSub, {*sums, g.Scalar(DataType::kI64, 1)}) : Drawn();
  if (!places) return {};
  const ValueId table = g.Table(DataType::kF32, {17, 2});
  return g.Try(Op::kGather, {table, *places}, {{"axis", int64_t{0}}});
}

// Moves the last element of an axis to its beginning, or the first element to its end.
Drawn Rolled(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const SizedShape shape = g.ShapeOf(x);
  const int64_t axis = g.AnyAxis(x);
  const bool by_one = g.Chance(50);
  const auto part = [&](bool tail) {
    const Dim cut = by_one ? 1 : shape[axis] - 1;
    SizedShape starts(shape.size(), 0), ends = shape;
    (tail ? starts : ends)[axis] = cut;
    return g.Try(Op::kSlice, {x},
                 {{"starts", SizesAttribute(starts)}, {"ends", SizesAttribute(ends)}});
  };
  const Drawn tail = part(true), head = part(false);
  return tail && head ? g.Try(Op::kConcat, {*tail, *head}, {{"axis", axis}}) : Drawn();
}

// Pads sequences to blocks of a fixed size, subtracts each block's maxima, and removes the padding.
Drawn Blocks(SizedGenerator& g) {
  const States x = DrawStates(g, g.Between(1, 3));
  const int64_t block = g.Between(2, 4);
  const Dim whole = Dim::CeilDiv(x.length, block);
  const Drawn filled = g.Try(Op::kPad, {x.value},
                             {{"pads", SizesAttribute({0, 0, 0, 0, whole * block - x.length, 0})}});
  const Drawn blocks = filled ? g.Reshape(*filled, {x.batch, whole, block, x.width}) : Drawn();
  const Drawn work = blocks ? g.Try(Op::kReduceMax, {*blocks}, Axes(2)) : Drawn();
  const Drawn again = work ? g.Try(Op::kSub, {*blocks, *work}) : Drawn();
  const Drawn flat = again ? g.Reshape(*again, {x.batch, whole * block, x.width}) : Drawn();
  if (!flat) return {};
  return g.Try(Op::kSlice, {*flat},
               {{"starts", Ints{0, 0, 0}}, {"ends", SizesAttribute(x.shape())}});
}

// Concatenates a cache and the new states, and adds attention of the new states to the result.
Drawn Cache(SizedGenerator& g) {
  const States x = DrawStates(g, g.Between(1, 3));
  SizedShape past = x.shape();
  past[1] = g.Axis();
  const ValueId cache = g.Input(x.type, past);
  const Drawn keys = g.Try(Op::kConcat, {cache, x.value}, {{"axis", int64_t{1}}});
  if (!keys) return {};
  const Dim all = g.ShapeOf(*keys)[1];
  std::vector<ValueId> inputs = {x.value, *keys, *keys};
  Attributes attributes = {{"scale", 0.5}};
  const Drawn seen = g.Chance(40) ? Triangle(g, x.length, all) : Drawn();
  if (seen) inputs.push_back(*seen);
  if (!seen && g.Chance(60)) {
    attributes["causal"] = int64_t{1};
    attributes["causal_offset"] = SizeAttribute(all - x.length);
  }
  return g.Try(Op::kAttention, inputs, attributes);
}

constexpr SizedRecipe kPhrases[] = {{MeanBySum, 2},  {LayerNormByMeans, 2}, {SoftmaxByExp, 2},
                                    {Linear, 3},     {Embedding, 2},        {SelfAttention, 4},
                                    {MaskedMean, 2}, {OneToken, 2},         {CountedPositions, 1},
                                    {Rolled, 2},     {Blocks, 1},           {Cache, 2}};

}  // namespace

std::span<const SizedRecipe> SizedPhrases() { return kPhrases; }

}  // namespace tunec::fuzz
