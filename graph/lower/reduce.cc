// Lowering of reductions over axes, argmax, argmin and cumulative sums.
#include "graph/lower/axes.h"
#include "graph/lower/lower_node.h"
#include "support/check.h"

namespace tunec::lower {
namespace {

Reducer ReducerOf(Op op, DataType type) {
  switch (op) {
    case Op::kReduceMax:
      return Reducer::Max(type);
    case Op::kReduceMin:
      return Reducer::Min(type);
    case Op::kReduceProd:
      return Reducer::Product(type);
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceL1:
    case Op::kReduceL2:
    case Op::kReduceSumSquare:
      return Reducer::Sum(type);
    default:
      TUNEC_UNREACHABLE("{} is no reduction", Name(op));
  }
}

// Returns the value to be reduced. After() computes the operator's result from the reduced value.
Expr Before(Op op, const Expr& x) {
  if (op == Op::kReduceL1) return Unary(ScalarOp::kAbs, x);
  if (op == Op::kReduceL2 || op == Op::kReduceSumSquare) return x * x;
  return x;
}

Expr After(Op op, const Expr& x, int64_t count) {
  if (op == Op::kReduceL2) {
    const DataType root = IsFloat(x.type()) ? x.type() : DataType::kF64;
    return Expr::Cast(Unary(ScalarOp::kSqrt, Expr::Cast(x, root)), x.type());
  }
  // The mean over no floats is NaN. The mean over no integers is the empty sum, 0.
  if (op == Op::kReduceMean && (count > 0 || IsFloat(x.type())))
    return x / Expr::Constant(count, x.type());
  return x;
}

// Returns the accumulator's type. Maxima and minima need no wider type. A sum of integers may wrap,
// because the result wraps in the same way. But a sum of integers that is divided, or whose root is
// taken, has 64 bits.
DataType AccumulatorFor(Op op, DataType type) {
  if (op == Op::kReduceMean && IsInteger(type))
    return type == DataType::kU64 ? type : DataType::kI64;
  if (op == Op::kReduceL2 && IsInteger(type)) return DataType::kU64;
  const bool extremum = op == Op::kReduceMax || op == Op::kReduceMin;
  return extremum ? ComputeType(type) : AccumulatorType(type);
}

// Returns the node's output: `after` of `remaining` (over the remaining axes), with extents of 1
// for keepdims.
Lazy FinishReduction(LowerContext& context, const Node& node, const Lazy& remaining,
                     const AxisSet& axes, int cost, const std::function<Expr(const Expr&)>& after) {
  const std::vector<int64_t> shape = context.OutputShape(node);
  const DataType type = ComputeType(context.OutputType(node));
  const bool keepdims = shape.size() != remaining.shape.size();
  return context.Define(context.OutputType(node), shape, remaining.cost + cost,
                        [=](StatementBuilder& builder, const Index& index) {
                          const Expr value =
                              remaining.At(builder, keepdims ? axes.RemainingIndex(index) : index);
                          return Expr::Cast(after(value), type);
                        });
}

}  // namespace

Result<Lazy> LowerReduce(LowerContext& context, const Node& node) {
  const Lazy x = context.Input(node, 0);
  const AxisSet axes(node.Ints("axes"), x.shape.size());
  const DataType type = AccumulatorFor(node.op, x.type);
  const Op op = node.op;
  const Lazy reduced = ReduceOver(context, x.shape, axes, type, ReducerOf(op, type),
                                  [&](StatementBuilder& builder, const Index& index) {
                                    return Before(op, Expr::Cast(x.At(builder, index), type));
                                  });
  const int64_t count = axes.Count(x.shape);
  const int cost = op == Op::kReduceMean || op == Op::kReduceL2 ? kDivisionCost : 0;
  return FinishReduction(context, node, reduced, axes, cost,
                         [op, count](const Expr& value) { return After(op, value, count); });
}

// Lowers max + log(sum of exp(x - max)). An infinite maximum is replaced by 0, because inf - inf is
// NaN.
Result<Lazy> LowerLogSumExp(LowerContext& context, const Node& node) {
  const Lazy x = context.ReusableInput(node, 0);
  const AxisSet axes(node.Ints("axes"), x.shape.size());
  const DataType type = ComputeType(x.type);
  const Lazy greatest = ReduceOver(
      context, x.shape, axes, type, Reducer::Max(type),
      [&](StatementBuilder& builder, const Index& index) { return x.At(builder, index); });
  const Lazy shift = context.Materialise(context.Define(
      type, greatest.shape, greatest.cost + 2,
      [greatest](StatementBuilder& builder, const Index& index) {
        const Expr value = greatest.At(builder, index);
        return Expr::Select(Unary(ScalarOp::kIsInf, value), Expr::Constant(0, value.type()), value);
      }));
  const Lazy sum = ReduceOver(context, x.shape, axes, type, Reducer::Sum(type),
                              [&](StatementBuilder& builder, const Index& index) {
                                const Expr m = shift.At(builder, axes.RemainingIndex(index));
                                return Unary(ScalarOp::kExp, x.At(builder, index) - m);
                              });
  const Lazy total = context.Define(
      type, sum.shape, kFunctionCost, [=](StatementBuilder& builder, const Index& index) {
        return shift.At(builder, index) + Unary(ScalarOp::kLog, sum.At(builder, index));
      });
  return FinishReduction(context, node, total, axes, 0, [](const Expr& value) { return value; });
}

Result<Lazy> LowerArgReduce(LowerContext& context, const Node& node) {
  const Lazy x = context.Input(node, 0);
  const AxisSet axes({node.Int("axis")}, x.shape.size());
  const DataType type = ComputeType(x.type);
  const bool last = node.Int("select_last_index") != 0;
  const std::vector<int64_t> remaining = axes.RemainingShape(x.shape);
  StatementBuilder builder = context.NewStatement();
  const Index out = builder.AddSpace(IterationSpaceOf(remaining));
  IndexExpr position;
  Index full;
  for (size_t d = 0, next = 0; d < x.shape.size(); ++d) {
    if (axes.Has(d)) position = builder.AddReduction("r0", x.shape[d]);
    full.push_back(axes.Has(d) ? position : out[next++]);
  }
  const Expr value = x.At(builder, full);
  const TensorId best = context.AddWorkspace("", type, remaining);
  const TensorId where = context.AddWorkspace("", DataType::kI64, remaining);
  Reducer reducer =
      node.op == Op::kArgMax ? Reducer::ArgMax(type, last) : Reducer::ArgMin(type, last);
  context.Emit(std::move(builder).Build(context.tensor(where).name, {{best, out}, {where, out}},
                                        {value, Expr::Index(position)}, std::move(reducer)));
  return FinishReduction(context, node, context.Stored(where, DataType::kI64), axes, 0,
                         [](const Expr& index) { return index; });
}

// Lowers a recurrence along the axis: t[i] = t[i - 1] + x[i], from the end if reversed. An
// exclusive sum is the previous element of t.
Result<Lazy> LowerCumSum(LowerContext& context, const Node& node) {
  const Lazy x = context.Input(node, 0);
  const int64_t axis = node.Int("axis");
  const bool reverse = node.Int("reverse") != 0;
  const int64_t step = reverse ? 1 : -1;  // to the previous element
  const int64_t extent = x.shape[axis];
  const auto before = [=](StatementBuilder& builder, const Lazy& sums, Index index) {
    index[axis] += step;
    return builder.EvaluateGuarded({index[axis], IndexExpr(extent - 1) - index[axis]}, 0,
                                   [&] { return sums.At(builder, index); });
  };

  const TensorId tensor = context.AddWorkspace("", AccumulatorType(x.type), x.shape);
  const Lazy sums = context.Stored(tensor, context.tensor(tensor).type);
  StatementBuilder builder = context.NewStatement();
  IterationSpace space = IterationSpaceOf(x.shape);
  space.iterators[IteratorVar(axis)].kind = IteratorKind::kSequential;
  if (reverse) space.index[axis] = IndexExpr(extent - 1) - space.index[axis];
  const Index index = builder.AddSpace(space);
  const Expr so_far = before(builder, sums, index);
  const Expr next = so_far + Expr::Cast(x.At(builder, index), so_far.type());
  context.Emit(std::move(builder).Build(context.tensor(tensor).name, Write{tensor, index}, next));

  const bool exclusive = node.Int("exclusive") != 0;
  const DataType type = ComputeType(context.OutputType(node));
  return context.Define(
      context.OutputType(node), x.shape, kReadCost, [=](StatementBuilder& reader, const Index& at) {
        return Expr::Cast(exclusive ? before(reader, sums, at) : sums.At(reader, at), type);
      });
}

}  // namespace tunec::lower
