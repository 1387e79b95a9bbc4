// Lowering of softmax and of normalisations over rows. Statistics are stored, so that their
// divisions and roots are not repeated for each element.
#include <algorithm>

#include "graph/lower/axes.h"
#include "graph/lower/lower_node.h"

namespace tunec::lower {
namespace {

// Returns x minus its row's maximum.
Lazy Shifted(LowerContext& context, const Lazy& x, const AxisSet& axes) {
  const DataType type = ComputeType(x.type);
  const Lazy greatest = ReduceOver(
      context, x.shape, axes, type, Reducer::Max(type),
      [&](StatementBuilder& builder, const Index& index) { return x.At(builder, index); });
  return context.Define(
      x.type, x.shape, x.cost + 2, [=](StatementBuilder& builder, const Index& index) {
        return x.At(builder, index) - greatest.At(builder, axes.RemainingIndex(index));
      });
}

Lazy Exponential(LowerContext& context, const Lazy& x) {
  return context.Define(x.type, x.shape, x.cost + kFunctionCost,
                        [x](StatementBuilder& builder, const Index& index) {
                          return Unary(ScalarOp::kExp, x.At(builder, index));
                        });
}

Lazy SumOver(LowerContext& context, const Lazy& x, const AxisSet& axes, bool squared) {
  const DataType type = AccumulatorType(x.type);
  return ReduceOver(context, x.shape, axes, type, Reducer::Sum(type),
                    [&](StatementBuilder& builder, const Index& index) {
                      const Expr value = x.At(builder, index);
                      return squared ? value * value : value;
                    });
}

// Stores one value per row, computed from the value of the same row in `row`.
Lazy PerRow(LowerContext& context, const Lazy& row,
            const std::function<Expr(const Expr&)>& function) {
  return context.Materialise(
      context.Define(row.type, row.shape, row.cost + kDivisionCost,
                     [row, function](StatementBuilder& builder, const Index& index) {
                       return function(row.At(builder, index));
                     }));
}

Lazy MeanOf(LowerContext& context, const Lazy& sum, int64_t count) {
  return PerRow(context, sum,
                [count](const Expr& s) { return s / Expr::Constant(count, s.type()); });
}

// Returns 1 / sqrt(sum / count + epsilon).
Expr InverseRoot(const Expr& sum, int64_t count, double epsilon) {
  const Expr variance = sum / Expr::Constant(count, sum.type());
  const Expr deviation = Unary(ScalarOp::kSqrt, variance + Expr::Constant(epsilon, sum.type()));
  return Expr::Constant(1, sum.type()) / deviation;
}

Lazy InverseDeviation(LowerContext& context, const Lazy& sum, int64_t count, double epsilon) {
  return PerRow(context, sum, [=](const Expr& s) { return InverseRoot(s, count, epsilon); });
}

// Returns (x - mean) / sqrt(variance + epsilon) over `axes`. The variance is computed in a second
// pass over the centred values.
Lazy Standardised(LowerContext& context, const Lazy& x, const AxisSet& axes, double epsilon) {
  const int64_t count = axes.Count(x.shape);
  const Lazy mean = MeanOf(context, SumOver(context, x, axes, /*squared=*/false), count);
  const Lazy centred = context.Define(
      x.type, x.shape, x.cost + 2, [=](StatementBuilder& builder, const Index& index) {
        return x.At(builder, index) - mean.At(builder, axes.RemainingIndex(index));
      });
  const Lazy inverse =
      InverseDeviation(context, SumOver(context, centred, axes, /*squared=*/true), count, epsilon);
  return context.Define(
      x.type, x.shape, centred.cost + 2, [=](StatementBuilder& builder, const Index& index) {
        return centred.At(builder, index) * inverse.At(builder, axes.RemainingIndex(index));
      });
}

// Returns x * scale, plus the bias if there is one. operand_index returns the index of both.
Lazy Affine(LowerContext& context, const Node& node, const Lazy& x,
            const std::function<Index(const Index&)>& operand_index) {
  std::vector<Lazy> operands = {context.Input(node, 1)};
  if (context.HasInput(node, 2)) operands.push_back(context.Input(node, 2));
  return context.Define(
      context.OutputType(node), x.shape, x.cost + 4,
      [=](StatementBuilder& builder, const Index& index) {
        const Expr value = x.At(builder, index);
        const Index at = operand_index(index);
        Expr scaled = value * Expr::Cast(operands[0].Broadcast(builder, at), value.type());
        if (operands.size() == 1) return scaled;
        return scaled + Expr::Cast(operands[1].Broadcast(builder, at), value.type());
      });
}

Index OfChannel(const Index& index) { return {index[1]}; }
Index Same(const Index& index) { return index; }

}  // namespace

Result<Lazy> LowerSoftmax(LowerContext& context, const Node& node) {
  const Lazy x = context.ReusableInput(node, 0);
  const AxisSet axes({node.Int("axis")}, x.shape.size());
  const Lazy shifted = Shifted(context, x, axes);
  if (node.op == Op::kLogSoftmax) {
    const Lazy sum = SumOver(context, Exponential(context, shifted), axes, /*squared=*/false);
    const Lazy log = PerRow(context, sum, [](const Expr& s) { return Unary(ScalarOp::kLog, s); });
    return context.Define(
        x.type, x.shape, shifted.cost + 2, [=](StatementBuilder& builder, const Index& index) {
          return shifted.At(builder, index) - log.At(builder, axes.RemainingIndex(index));
        });
  }
  const Lazy exponential = context.Materialise(Exponential(context, shifted));
  // For finite x the sum is at least 1, because the maximum contributes 1. So the inverse adds only
  // one rounding, and saves a division per element.
  const Lazy inverse = PerRow(context, SumOver(context, exponential, axes, /*squared=*/false),
                              [](const Expr& s) { return Expr::Constant(1, s.type()) / s; });
  return context.Define(
      x.type, x.shape, kReadCost + 2, [=](StatementBuilder& builder, const Index& index) {
        return exponential.At(builder, index) * inverse.At(builder, axes.RemainingIndex(index));
      });
}

Result<Lazy> LowerLayerNorm(LowerContext& context, const Node& node) {
  const Lazy x = context.ReusableInput(node, 0);
  const AxisSet axes = AxisSet::From(node.Int("axis"), x.shape.size());
  return Affine(context, node, Standardised(context, x, axes, node.Float("epsilon")), Same);
}

Result<Lazy> LowerRmsNorm(LowerContext& context, const Node& node) {
  const Lazy x = context.ReusableInput(node, 0);
  const AxisSet axes = AxisSet::From(node.Int("axis"), x.shape.size());
  const Lazy inverse = InverseDeviation(context, SumOver(context, x, axes, /*squared=*/true),
                                        axes.Count(x.shape), node.Float("epsilon"));
  const Lazy scaled = context.Define(
      x.type, x.shape, x.cost + 2, [=](StatementBuilder& builder, const Index& index) {
        return x.At(builder, index) * inverse.At(builder, axes.RemainingIndex(index));
      });
  return Affine(context, node, scaled, Same);
}

namespace {

// Returns whether the value's layout is not row-major, and its last axis uses the channel.
bool IsChannelsLast(const LowerContext& context, ValueId value) {
  const Layout& layout = context.graph().value(value).layout;
  return !layout.IsRowMajor() && layout.map.back().Uses(DimensionVar(1));
}

// Returns the sums over groups of `size` channels and all axes after the channels: [batch, groups].
Lazy SumOfGroups(LowerContext& context, const Lazy& x, int64_t size, bool squared) {
  Lazy sums = SumOver(context, x, AxisSet::From(2, x.shape.size()), squared);
  if (size == 1) return sums;
  const Lazy grouped =
      context.Define(sums.type, {x.shape[0], x.shape[1] / size, size}, kReadCost,
                     [=](StatementBuilder& builder, const Index& index) {
                       return sums.At(builder, {index[0], index[1] * size + index[2]});
                     });
  return SumOver(context, grouped, AxisSet::From(2, 3), /*squared=*/false);
}

// Stores one value per image and channel, computed from the value of the channel's group in `row`.
Lazy PerChannel(LowerContext& context, const Lazy& row, int64_t channels, int64_t size,
                const std::function<Expr(const Expr&)>& function) {
  return context.Materialise(context.Define(
      row.type, {row.shape[0], channels}, row.cost + kDivisionCost,
      [=](StatementBuilder& builder, const Index& index) {
        return function(row.At(builder, {index[0], IndexExpr::FloorDiv(index[1], size)}));
      }));
}

// Standardises over groups of `size` channels. Sums over a group would access memory in pieces of
// at most `size` elements. So each channel is summed separately, and each group's statistics are
// stored for each channel of the group.
Lazy StandardisedChannels(LowerContext& context, const Lazy& x, int64_t size, double epsilon) {
  const int64_t channels = x.shape[1];
  const int64_t count = size * AxisSet::From(2, x.shape.size()).Count(x.shape);
  const Lazy mean =
      PerChannel(context, SumOfGroups(context, x, size, /*squared=*/false), channels, size,
                 [count](const Expr& sum) { return sum / Expr::Constant(count, sum.type()); });
  const Lazy centred = context.Define(
      x.type, x.shape, x.cost + 2, [=](StatementBuilder& builder, const Index& index) {
        return x.At(builder, index) - mean.At(builder, {index[0], index[1]});
      });
  const Lazy inverse =
      PerChannel(context, SumOfGroups(context, centred, size, /*squared=*/true), channels, size,
                 [=](const Expr& sum) { return InverseRoot(sum, count, epsilon); });
  return context.Define(
      x.type, x.shape, centred.cost + 2, [=](StatementBuilder& builder, const Index& index) {
        return centred.At(builder, index) * inverse.At(builder, {index[0], index[1]});
      });
}

// Standardises over groups of `size` channels and all later axes: a layer normalisation of x with
// its channels split into groups.
Lazy StandardisedGroups(LowerContext& context, const Lazy& x, int64_t size, double epsilon) {
  std::vector<int64_t> split = x.shape;
  split[1] = size;
  split.insert(split.begin() + 1, x.shape[1] / size);
  const Lazy grouped =
      context.Define(x.type, split, x.cost, [=](StatementBuilder& builder, const Index& index) {
        Index merged = index;
        merged[2] = index[1] * size + index[2];
        merged.erase(merged.begin() + 1);
        return x.At(builder, merged);
      });
  const Lazy standard = Standardised(context, grouped, AxisSet::From(2, split.size()), epsilon);
  return context.Define(x.type, x.shape, standard.cost,
                        [=](StatementBuilder& builder, const Index& index) {
                          Index parts = index;
                          parts[1] = IndexExpr::Mod(index[1], size);
                          parts.insert(parts.begin() + 1, IndexExpr::FloorDiv(index[1], size));
                          return standard.At(builder, parts);
                        });
}

}  // namespace

Result<Lazy> LowerInstanceNorm(LowerContext& context, const Node& node) {
  const Lazy x = context.ReusableInput(node, 0);
  const double epsilon = node.Float("epsilon");
  const Lazy standard = IsChannelsLast(context, node.inputs[0])
                            ? StandardisedChannels(context, x, /*size=*/1, epsilon)
                            : Standardised(context, x, AxisSet::From(2, x.shape.size()), epsilon);
  return Affine(context, node, standard, OfChannel);
}

Result<Lazy> LowerGroupNorm(LowerContext& context, const Node& node) {
  const Lazy x = context.ReusableInput(node, 0);
  const double epsilon = node.Float("epsilon");
  // If there are no channels, the result is empty and does not depend on the size.
  const int64_t size = std::max<int64_t>(x.shape[1] / node.Int("groups"), 1);
  const Lazy standard = IsChannelsLast(context, node.inputs[0])
                            ? StandardisedChannels(context, x, size, epsilon)
                            : StandardisedGroups(context, x, size, epsilon);
  return Affine(context, node, standard, OfChannel);
}

}  // namespace tunec::lower
