// The lowering of numpy's matmul: batches broadcast, and an operand of rank 1 adds no axis to the
// result.
#include "graph/lower/lower_node.h"

namespace tunec::lower {
namespace {

// Returns the operand's index for batch, row or column `outer` and reduction `k`. With
// `outer_last`, the reduction axis comes before the outer one.
Index OperandIndex(const std::vector<int64_t>& shape, const Index& batch, const IndexExpr& outer,
                   const IndexExpr& k, bool outer_last) {
  if (shape.size() == 1) return {k};
  Index index;
  const size_t own = shape.size() - 2;
  for (size_t d = 0; d < own; ++d)
    index.push_back(shape[d] == 1 ? IndexExpr(0) : batch[batch.size() - own + d]);
  index.push_back(outer_last ? k : outer);
  index.push_back(outer_last ? outer : k);
  return index;
}

struct MatmulShape {
  bool has_row = true;
  bool has_column = true;
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t reduction = 0;
};

MatmulShape ShapeOf(const Node& node, const std::vector<int64_t>& a,
                    const std::vector<int64_t>& b) {
  MatmulShape shape;
  shape.has_row = a.size() > 1;
  shape.has_column = b.size() > 1;
  shape.transpose_a = shape.has_row && node.Int("transpose_a") != 0;
  shape.transpose_b = shape.has_column && node.Int("transpose_b") != 0;
  shape.reduction = shape.transpose_a ? a[a.size() - 2] : a.back();
  return shape;
}

IterationSpace OutputSpace(const MatmulShape& shape, const std::vector<int64_t>& output) {
  const size_t batches = output.size() - (shape.has_row ? 1 : 0) - (shape.has_column ? 1 : 0);
  std::vector<std::string> names;
  for (size_t d = 0; d < batches; ++d) names.push_back("b" + std::to_string(d));
  if (shape.has_row) names.emplace_back("i");
  if (shape.has_column) names.emplace_back("j");
  return IterationSpaceOf(output, names);
}

}  // namespace

Result<Lazy> LowerMatmul(LowerContext& context, const Node& node) {
  const Lazy& a = context.Input(node, 0);
  const Lazy b = context.OperandInput(node, 1);
  const MatmulShape shape = ShapeOf(node, a.shape, b.shape);
  const std::vector<int64_t> output = context.OutputShape(node);
  const DataType type = AccumulatorType(context.OutputType(node));
  if (shape.reduction == 0) return context.Constant(0, context.OutputType(node), output);

  StatementBuilder builder = context.NewStatement();
  const IterationSpace space = OutputSpace(shape, output);
  const Index index = builder.AddSpace(space);
  const IndexExpr k = builder.AddReduction("k", shape.reduction);
  size_t axis = index.size();
  const IndexExpr column = shape.has_column ? index[--axis] : IndexExpr(0);
  const IndexExpr row = shape.has_row ? index[--axis] : IndexExpr(0);
  const Index batch(index.begin(), index.begin() + static_cast<ptrdiff_t>(axis));

  const Expr left =
      context.OperandElement(builder, a, OperandIndex(a.shape, batch, row, k, shape.transpose_a));
  const Expr right = b.At(builder, OperandIndex(b.shape, batch, column, k, !shape.transpose_b));
  context.SetAnchor(space);
  const TensorId acc = context.AddWorkspace("acc", type, output, node.outputs[0]);
  return context.EmitReduction(std::move(builder), acc, index,
                               Expr::Cast(left, type) * Expr::Cast(right, type), Reducer::Sum(type),
                               context.OutputType(node));
}

}  // namespace tunec::lower
