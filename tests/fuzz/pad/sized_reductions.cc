// Recipes that add reductions, cumulative sums and normalisations to a model.
#include <algorithm>

#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

double Epsilon(SizedGenerator& g) { return g.OneOf({1e-5, 1e-3, 0.25}); }

Drawn Reduction(SizedGenerator& g) {
  const Op op = g.OneOf({Op::kReduceSum, Op::kReduceMean, Op::kReduceMax, Op::kReduceMin,
                         Op::kReduceProd, Op::kReduceL1, Op::kReduceL2, Op::kReduceSumSquare,
                         Op::kReduceLogSumExp, Op::kReduceSum, Op::kReduceMean});
  const ValueId x = g.Operand(op == Op::kReduceLogSumExp ? Domain::kFloat : Domain::kNumber);
  Ints axes;
  for (int64_t a = 0; a < g.RankOf(x); ++a)
    if (g.Chance(45)) axes.push_back(a);
  return g.Try(op, {x}, {{"axes", axes}, {"keepdims", g.Below(2)}});
}

Drawn ArgReduction(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kNumber, 1);
  return g.Try(
      g.OneOf({Op::kArgMax, Op::kArgMin}), {x},
      {{"axis", g.AnyAxis(x)}, {"keepdims", g.Below(2)}, {"select_last_index", g.Below(2)}});
}

Drawn CumSum(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kNumber, 1);
  return g.Try(Op::kCumSum, {x},
               {{"axis", g.AnyAxis(x)}, {"exclusive", g.Below(2)}, {"reverse", g.Below(2)}});
}

Drawn Softmax(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  return g.Try(g.OneOf({Op::kSoftmax, Op::kSoftmax, Op::kLogSoftmax}), {x},
               {{"axis", g.AnyAxis(x)}});
}

Drawn AxisNorm(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  const DataType type = g.TypeOf(x);
  const SizedShape shape = g.ShapeOf(x);
  const int64_t axis = g.Chance(60) ? std::ssize(shape) - 1 : g.AnyAxis(x);
  SizedShape normalised(shape.begin() + axis, shape.end());
  if (!std::ranges::all_of(normalised, &Dim::IsConstant) && g.Chance(40)) return {};
  if (g.Chance(10)) normalised.back() = 1;
  const Op op = g.OneOf({Op::kLayerNorm, Op::kRmsNorm});
  std::vector<ValueId> inputs = {x, g.Parameter(type, normalised)};
  if (op == Op::kLayerNorm && g.Chance(70)) inputs.push_back(g.Parameter(type, normalised));
  return g.Try(op, inputs, {{"axis", axis}, {"epsilon", Epsilon(g)}});
}

Drawn ChannelNorm(SizedGenerator& g) {
  const Op op = g.OneOf({Op::kBatchNorm, Op::kInstanceNorm, Op::kGroupNorm});
  const ValueId x = g.Operand(Domain::kFloat, 2);
  const DataType type = g.TypeOf(x);
  const Dim channels = g.ShapeOf(x)[1];
  const SizedShape vector = {channels};
  std::vector<ValueId> inputs = {x, g.Parameter(type, vector), g.Parameter(type, vector)};
  Attributes attributes = {{"epsilon", Epsilon(g)}};
  if (op == Op::kBatchNorm) {
    inputs.push_back(g.Parameter(type, vector));
    inputs.push_back(g.Constant(type, vector, [](const Ints& position) {
      return 0.25 * static_cast<double>(1 + position[0] % 7);
    }));
  }
  if (op == Op::kGroupNorm)
    attributes["groups"] = g.Divides(2, channels) && g.Chance(50) ? int64_t{2} : int64_t{1};
  return g.Try(op, inputs, attributes);
}

Drawn Lrn(SizedGenerator& g) {
  return g.Try(
      Op::kLrn, {g.Operand(Domain::kFloat, 2)},
      {{"size", g.Between(1, 5)}, {"alpha", g.OneOf({1e-4, 0.5})}, {"beta", 0.75}, {"bias", 1.0}});
}

constexpr SizedRecipe kReductions[] = {{Reduction, 7}, {ArgReduction, 2}, {CumSum, 3}, {Softmax, 4},
                                       {AxisNorm, 4},  {ChannelNorm, 2},  {Lrn, 1}};

}  // namespace

std::span<const SizedRecipe> SizedReductions() { return kReductions; }

}  // namespace tunec::fuzz
