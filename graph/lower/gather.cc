// Lowering of one_hot, and of gathers: reads with loaded or constant indices. A gather first clamps
// indices to the axis's range, unless they are constants in range. An index out of range (an error
// of the model's input) then reads some element of the tensor instead of other memory.
#include <algorithm>

#include "graph/lower/lower_node.h"

namespace tunec::lower {
namespace {

bool AreInRange(const Array& indices, int64_t extent) {
  for (int64_t i = 0; i < indices.size(); ++i)
    if (indices.GetInt(i) < 0 || indices.GetInt(i) >= extent) return false;
  return true;
}

// Returns an index in range. Negative indices count from the end; the result is clamped.
Expr Wrapped(const Expr& index, int64_t extent) {
  const DataType type = index.type();
  const Expr zero = Expr::Constant(0, type);
  const Expr negative = Expr::Apply(ScalarOp::kLt, {index, zero});
  const Expr from_start = Expr::Select(negative, index + Expr::Constant(extent, type), index);
  return Min(Max(from_start, zero), Expr::Constant(extent - 1, type));
}

int64_t Wrapped(int64_t index, int64_t extent) {
  return std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent - 1);
}

// Indices in the range of the gathered axis: a tensor of any shape, or one constant.
struct Indices {
  Lazy tensor;
  std::optional<int64_t> constant;
};

Indices UsableIndices(LowerContext& context, const Node& node, int64_t extent) {
  const Lazy& indices = context.Input(node, 1);
  const Array* constant = context.graph().ConstantOf(node.inputs[1]);
  if (constant != nullptr && constant->size() == 1)
    return {indices, Wrapped(constant->GetInt(0), extent)};
  if (constant != nullptr && indices.tensor && AreInRange(*constant, extent)) {
    context.SetRange(*indices.tensor, {0, extent - 1});
    return {context.Stored(*indices.tensor, indices.type), {}};
  }
  const Lazy wrapped =
      context.Define(DataType::kI64, indices.shape, indices.cost + 4,
                     [indices, extent](StatementBuilder& builder, const Index& index) {
                       const Expr raw = indices.At(builder, index);
                       return Wrapped(Expr::Cast(raw, DataType::kI64), extent);
                     });
  const Lazy stored = context.Materialise(wrapped);
  context.SetRange(*stored.tensor, {0, extent - 1});
  return {stored, {}};
}

IndexExpr Load(StatementBuilder& builder, const Indices& indices, const Index& at) {
  if (indices.constant) return *indices.constant;
  const Expr value = indices.tensor.At(builder, at);
  return IndexExpr::Loaded(value.node().slot);
}

}  // namespace

// Lowers out[a.., i.., b..] = data[a.., indices[i..], b..].
Result<Lazy> LowerGather(LowerContext& context, const Node& node) {
  const Lazy data = context.Input(node, 0);
  const int64_t axis = node.Int("axis");
  const Indices indices = UsableIndices(context, node, data.shape[axis]);
  const auto first = static_cast<ptrdiff_t>(axis);
  const auto last = first + static_cast<ptrdiff_t>(indices.tensor.shape.size());
  return context.Define(context.OutputType(node), context.OutputShape(node), data.cost + 1,
                        [=](StatementBuilder& builder, const Index& index) {
                          const Index at(index.begin() + first, index.begin() + last);
                          Index source(index.begin(), index.begin() + first);
                          source.push_back(Load(builder, indices, at));
                          source.insert(source.end(), index.begin() + last, index.end());
                          return data.At(builder, source);
                        });
}

// Lowers out[i..] = data[i.. with indices[i..] along the axis].
Result<Lazy> LowerGatherElements(LowerContext& context, const Node& node) {
  const Lazy data = context.Input(node, 0);
  const int64_t axis = node.Int("axis");
  const Indices indices = UsableIndices(context, node, data.shape[axis]);
  return context.Define(context.OutputType(node), context.OutputShape(node), data.cost + 1,
                        [=](StatementBuilder& builder, const Index& index) {
                          Index source = index;
                          source[axis] = Load(builder, indices, index);
                          return data.At(builder, source);
                        });
}

Result<Lazy> LowerOneHot(LowerContext& context, const Node& node) {
  const Lazy indices = context.Input(node, 0);
  const std::vector<int64_t> shape = context.OutputShape(node);
  const int64_t depth = node.Int("depth");
  const int64_t axis = node.Int("axis");
  const DataType type = ComputeType(context.OutputType(node));
  const Expr on = Expr::Constant(node.Float("on_value"), type);
  const Expr off = Expr::Constant(node.Float("off_value"), type);
  return context.Define(
      context.OutputType(node), shape, indices.cost + 4,
      [=](StatementBuilder& builder, const Index& index) {
        Index at = index;
        at.erase(at.begin() + axis);
        const Expr raw = Expr::Cast(indices.At(builder, at), DataType::kI64);
        const Expr negative = Expr::Apply(ScalarOp::kLt, {raw, Expr::Constant(0, DataType::kI64)});
        const Expr from_start =
            Expr::Select(negative, raw + Expr::Constant(depth, DataType::kI64), raw);
        const Expr here = Expr::Index(index[axis]);
        return Expr::Select(Expr::Apply(ScalarOp::kEq, {from_start, here}), on, off);
      });
}

}  // namespace tunec::lower
