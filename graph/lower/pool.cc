// Lowering of pools and of local response normalisation to reductions over windows. Padding
// restricts the domain, unless some window may have no element.
#include <limits>

#include "graph/lower/lower_node.h"
#include "graph/lower/window.h"

namespace tunec::lower {
namespace {

struct Pooling {
  std::vector<WindowAxis> axes;
  Lazy value;  // the reduced windows; not divided yet
};

Pooling PoolOver(LowerContext& context, const Node& node, DataType type, const Reducer& reducer,
                 double outside) {
  const Lazy x = context.Input(node, 0);
  const std::vector<int64_t> shape = context.OutputShape(node);
  Pooling pool{.axes = WindowAxes(node, x.shape, shape, node.Ints("kernel")), .value = {}};
  StatementBuilder builder = context.NewStatement();
  const IterationSpace space = IterationSpaceOf(shape, OutputNames(pool.axes, {"c"}));
  const Index out = builder.AddSpace(space);
  Index index = {out[0], out[1]};
  Padding padding{.inside = {}, .outside = outside};
  for (size_t d = 0; d < pool.axes.size(); ++d) {
    const WindowAxis& axis = pool.axes[d];
    const IndexExpr k = builder.AddReduction(axis.kernel_name, axis.kernel);
    const IndexExpr at = out[2 + d] * axis.stride + k * axis.dilation - axis.pad;
    for (const IndexExpr& condition : ConditionsInside(axis, at))
      padding.inside.push_back(condition);
    padding.some_window_empty |= axis.MayBeEmpty();
    index.push_back(at);
  }
  const Expr value = ReadPadded(builder, x, index, padding);
  const TensorId tensor = context.AddWorkspace("", type, shape, node.outputs[0]);
  context.SetAnchor(space);
  pool.value = context.EmitReduction(std::move(builder), tensor, out, value, reducer,
                                     context.OutputType(node));
  return pool;
}

// Returns how many elements of the window at output `o` exist on this axis, or at most 0 if none.
Expr CountInside(const WindowAxis& axis, const IndexExpr& o, DataType type) {
  const IndexExpr begin = o * axis.stride - axis.pad;
  const IndexExpr last_inside =
      IndexExpr::FloorDiv(IndexExpr(axis.input - 1) - begin, axis.dilation);
  const IndexExpr first_inside = -IndexExpr::FloorDiv(begin, axis.dilation);
  return Min(Expr::Index(last_inside, type), Expr::Constant(axis.kernel - 1, type)) -
         Max(Expr::Index(first_inside, type), Expr::Constant(0, type)) + Expr::Constant(1, type);
}

// Returns whether every window of the axis is within the input.
bool IsUnpadded(const WindowAxis& axis) {
  const int64_t last = (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation;
  return axis.pad == 0 && last < axis.input;
}

}  // namespace

Result<Lazy> LowerMaxPool(LowerContext& context, const Node& node) {
  const DataType type = ComputeType(context.OutputType(node));
  const Reducer reducer = Reducer::Max(type);
  const ExprNode& lowest = reducer.identity[0].node();
  const double outside = IsFloat(type) ? lowest.float_value : static_cast<double>(lowest.int_value);
  return PoolOver(context, node, type, reducer, outside).value;
}

Result<Lazy> LowerAveragePool(LowerContext& context, const Node& node) {
  const DataType type = AccumulatorType(context.OutputType(node));
  const Pooling pool = PoolOver(context, node, type, Reducer::Sum(type), 0);
  const DataType result = ComputeType(context.OutputType(node));
  const bool include_pad = node.Int("count_include_pad") != 0;
  const auto count = [axes = pool.axes, include_pad, result](const Index& index) {
    int64_t constant = 1;
    Expr product = Expr::Constant(1, result);
    for (size_t d = 0; d < axes.size(); ++d) {
      const bool whole = include_pad || IsUnpadded(axes[d]);
      if (whole) constant *= axes[d].kernel;
      if (!whole) product = product * CountInside(axes[d], index[2 + d], result);
    }
    return product * Expr::Constant(constant, result);
  };
  return context.Define(context.OutputType(node), pool.value.shape, pool.value.cost + kDivisionCost,
                        [value = pool.value, count](StatementBuilder& builder, const Index& index) {
                          return value.At(builder, index) / count(index);
                        });
}

// Lowers x / (bias + alpha / size * sum of squares over at most `size` channels)^beta.
Result<Lazy> LowerLrn(LowerContext& context, const Node& node) {
  const Lazy x = context.ReusableInput(node, 0);
  const int64_t size = node.Int("size");
  const DataType type = ComputeType(x.type);
  std::vector<std::string> names = {"n", "c"};
  const IterationSpace space = IterationSpaceOf(x.shape, names);
  StatementBuilder builder = context.NewStatement();
  const Index out = builder.AddSpace(space);
  Index index = out;
  index[1] += builder.AddReduction("r0", size) - (size - 1) / 2;
  builder.Require(index[1]);
  builder.Require(IndexExpr(x.shape[1] - 1) - index[1]);
  const Expr element = x.At(builder, index);
  const TensorId tensor = context.AddWorkspace("", type, x.shape, node.outputs[0]);
  context.SetAnchor(space);
  const Lazy squares = context.EmitReduction(std::move(builder), tensor, out, element * element,
                                             Reducer::Sum(type), type);
  const double scale = node.Float("alpha") / static_cast<double>(size);
  const double bias = node.Float("bias");
  const double beta = node.Float("beta");
  return context.Define(
      context.OutputType(node), x.shape, x.cost + 2 * kFunctionCost,
      [=](StatementBuilder& reader, const Index& at) {
        const Expr sum = squares.At(reader, at);
        const Expr base = Expr::Constant(bias, type) + Expr::Constant(scale, type) * sum;
        return x.At(reader, at) / Expr::Apply(ScalarOp::kPow, {base, Expr::Constant(beta, type)});
      });
}

}  // namespace tunec::lower
