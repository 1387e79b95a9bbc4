// Lowering of data movement to index maps and selections of guarded reads, and lowering of range.
#include "graph/lower/lower_node.h"
#include "graph/ops/index_maps.h"

namespace tunec::lower {
namespace {

// Returns the output whose element at `index` is x at `map(index)`.
Lazy Moved(LowerContext& context, const Node& node, const Lazy& x,
           std::function<Index(const Index&)> map) {
  return context.Define(context.OutputType(node), context.OutputShape(node), x.cost,
                        [x, map = std::move(map)](StatementBuilder& builder, const Index& index) {
                          return x.At(builder, map(index));
                        });
}

struct ConcatPiece {
  Lazy value;
  int64_t begin = 0;
};

// Returns the element at `index`, selected from the pieces that `index` may address, without those
// before `first`.
Expr SelectPiece(StatementBuilder& builder, const std::vector<ConcatPiece>& pieces, size_t first,
                 const Index& index, int64_t axis) {
  const ConcatPiece& piece = pieces[first];
  const int64_t end = piece.begin + piece.value.shape[axis];
  const Interval bounds = builder.Bounds(index[axis]);
  const bool is_last = first + 1 == pieces.size();
  if (!is_last && bounds.lo >= end) return SelectPiece(builder, pieces, first + 1, index, axis);
  Index own = index;
  own[axis] -= piece.begin;
  const IndexExpr before_end = IndexExpr(end - 1) - index[axis];
  Expr value = builder.EvaluateGuarded({own[axis], before_end}, 0,
                                       [&] { return piece.value.At(builder, own); });
  if (is_last || bounds.hi < end) return value;
  const Expr rest = SelectPiece(builder, pieces, first + 1, index, axis);
  return Expr::Select(Expr::Holds({before_end}), value, rest);
}

}  // namespace

Result<Lazy> LowerTranspose(LowerContext& context, const Node& node) {
  return Moved(context, node, context.Input(node, 0),
               [&node](const Index& index) { return Unpermute(index, node.Ints("perm")); });
}

Result<Lazy> LowerReshape(LowerContext& context, const Node& node) {
  const Lazy& x = context.Input(node, 0);
  return Moved(context, node, x,
               [from = context.OutputShape(node), to = x.shape](const Index& index) {
                 return ReshapeIndex(index, from, to);
               });
}

Result<Lazy> LowerExpand(LowerContext& context, const Node& node) {
  const Lazy x = context.Input(node, 0);
  return context.Define(
      context.OutputType(node), context.OutputShape(node), x.cost,
      [x](StatementBuilder& builder, const Index& index) { return x.Broadcast(builder, index); });
}

Result<Lazy> LowerSlice(LowerContext& context, const Node& node) {
  return Moved(context, node, context.Input(node, 0), [&node](const Index& index) {
    Index source;
    for (size_t d = 0; d < index.size(); ++d)
      source.push_back(index[d] * node.Ints("steps")[d] + node.Ints("starts")[d]);
    return source;
  });
}

Result<Lazy> LowerConcat(LowerContext& context, const Node& node) {
  const std::vector<int64_t> shape = context.OutputShape(node);
  const int64_t axis = node.Int("axis");
  std::vector<ConcatPiece> pieces;
  int64_t begin = 0;
  int cost = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Lazy& value = context.Input(node, i);
    if (value.shape[axis] > 0) pieces.push_back({value, begin});
    begin += value.shape[axis];
    cost += value.cost + 1;
  }
  if (pieces.empty()) return context.Constant(0, context.OutputType(node), shape);
  return context.Define(context.OutputType(node), shape, cost,
                        [=](StatementBuilder& builder, const Index& index) {
                          return SelectPiece(builder, pieces, 0, index, axis);
                        });
}

Result<Lazy> LowerTile(LowerContext& context, const Node& node) {
  const Lazy& x = context.Input(node, 0);
  return Moved(context, node, x, [shape = x.shape](const Index& index) {
    Index source;
    for (size_t d = 0; d < index.size(); ++d)
      source.push_back(shape[d] == 0 ? index[d] : IndexExpr::Mod(index[d], shape[d]));
    return source;
  });
}

Result<Lazy> LowerRange(LowerContext& context, const Node& node) {
  const DataType type = ComputeType(context.OutputType(node));
  const double start = node.Float("start");
  const double delta = node.Float("delta");
  return context.Define(context.OutputType(node), context.OutputShape(node), 2,
                        [=](StatementBuilder&, const Index& index) {
                          return Expr::Constant(start, type) +
                                 Expr::Constant(delta, type) * Expr::Index(index[0], type);
                        });
}

}  // namespace tunec::lower
