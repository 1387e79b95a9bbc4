// Lowering of scatter. The first statement copies the data to the result. If there are updates to
// write, the second writes each update at its index or combines it with the element there. Updates
// stay in order, because two may have the same index. If the result shares the data's storage, the
// copy does nothing (ir/nest/in_place.h). Then writing a row into a cache costs only that row.
//
// Loaded indices are clamped as for a gather. An update with an index out of range writes the old
// value. If the only index is a constant out of range, no statement writes updates.
#include <optional>
#include <string>
#include <utility>

#include "graph/lower/lower_node.h"
#include "graph/ops/index_maps.h"

namespace tunec::lower {
namespace {

Expr Number(int64_t value) { return Expr::Constant(value, DataType::kI64); }

// Returns the index counted from the start. Negative indices count from the end.
Expr FromStart(const Expr& index, int64_t positions) {
  const Expr negative = Expr::Apply(ScalarOp::kLt, {index, Number(0)});
  return Expr::Select(negative, index + Number(positions), index);
}

bool AreInRange(const Array& indices, int64_t positions) {
  for (int64_t i = 0; i < indices.size(); ++i)
    if (indices.GetInt(i) < 0 || indices.GetInt(i) >= positions) return false;
  return true;
}

// The flattened index of an update within the axes that the scatter addresses, and the condition
// for writing the update.
struct ScatterPosition {
  IndexExpr index;
  std::optional<Expr> is_in_range;  // empty: always written
};

// The positions of all updates: a stored tensor that broadcasts to the updates, or one constant.
class ScatterPositions {
 public:
  ScatterPositions(LowerContext& context, const Node& node, int64_t count)
      : count_(count), indices_(context.ReusableInput(node, 1)) {
    const Array* constant = context.graph().ConstantOf(node.inputs[1]);
    if (constant != nullptr && constant->size() == 1) {
      const int64_t index = constant->GetInt(0);
      constant_ = index < 0 ? index + count : index;
      return;
    }
    are_within_ = constant != nullptr && indices_.tensor && AreInRange(*constant, count);
    positions_ = are_within_ ? context.Stored(*indices_.tensor, indices_.type) : Clamp(context);
    context.SetRange(*positions_.tensor, {0, count - 1});
  }

  bool AreNone() const { return constant_ && (*constant_ < 0 || *constant_ >= count_); }

  ScatterPosition At(StatementBuilder& builder, const Index& at) const {
    if (constant_) return {.index = *constant_, .is_in_range = {}};
    const Expr position = positions_.Broadcast(builder, at);
    ScatterPosition result{.index = IndexExpr::Loaded(position.node().slot), .is_in_range = {}};
    if (are_within_) return result;
    const Expr index = Expr::Cast(indices_.Broadcast(builder, at), DataType::kI64);
    result.is_in_range = Expr::Apply(ScalarOp::kEq, {FromStart(index, count_), position});
    return result;
  }

 private:
  Lazy Clamp(LowerContext& context) const {
    const Lazy clamped = context.Define(
        DataType::kI64, indices_.shape, indices_.cost + 4,
        [indices = indices_, count = count_](StatementBuilder& builder, const Index& index) {
          const Expr raw = Expr::Cast(indices.At(builder, index), DataType::kI64);
          return Min(Max(FromStart(raw, count), Number(0)), Number(count - 1));
        });
    return context.Materialise(clamped, "places");
  }

  int64_t count_;
  Lazy indices_;
  Lazy positions_;
  bool are_within_ = false;
  std::optional<int64_t> constant_;
};

class Scatter {
 public:
  Scatter(LowerContext& context, const Node& node)
      : context_(context),
        node_(node),
        axis_(static_cast<size_t>(node.Int("axis"))),
        shape_(context.OutputShape(node)),
        joined_(shape_),
        updates_(context.Input(node, 2)) {
    const auto first = joined_.begin() + static_cast<ptrdiff_t>(axis_);
    const auto last = first + static_cast<ptrdiff_t>(node.Int("depth"));
    const int64_t positions = ElementCount({first, last});
    joined_.erase(first + 1, last);
    joined_[axis_] = positions;
  }

  Lazy Lower() {
    const TensorId result = Result();
    Copy(result);
    if (ElementCount(updates_.shape) > 0) Write(result);
    return context_.Stored(result, context_.OutputType(node_));
  }

 private:
  const std::string& reduction() const { return node_.String("reduction"); }

  // Returns the tensor for the result: the group's output, or a workspace if the result is not an
  // output. Sums and products of 16-bit floats accumulate in an f32 workspace and are rounded once.
  TensorId Result() {
    const DataType type = context_.OutputType(node_);
    const bool rounds = reduction() == "add" || reduction() == "mul";
    const auto output = context_.OutputTensor(node_.outputs[0]);
    if (output && !(rounds && ComputeType(type) != type)) return *output;
    return context_.AddWorkspace("scattered", ComputeType(type), shape_, node_.outputs[0]);
  }

  void Copy(TensorId result) {
    const Lazy& data = context_.Input(node_, 0);
    StatementBuilder builder = context_.NewStatement();
    const Index index = builder.AddSpace(IterationSpaceOf(shape_));
    const Expr element = Expr::Cast(data.At(builder, index), context_.tensor(result).type);
    context_.Emit(std::move(builder).Build(Name(result), {result, index}, element));
  }

  void Write(TensorId result) {
    const ScatterPositions positions(context_, node_, joined_[axis_]);
    if (positions.AreNone()) return;
    StatementBuilder builder = context_.NewStatement();
    IterationSpace space = IterationSpaceOf(updates_.shape);
    space.iterators[IteratorVar(axis_)].kind = IteratorKind::kSequential;
    const Index at = builder.AddSpace(space);
    const ScatterPosition position = positions.At(builder, at);
    Index to = at;
    to[axis_] = position.index;
    to = ReshapeIndex(to, joined_, shape_);
    const DataType type = ComputeType(context_.OutputType(node_));
    const Expr old = Expr::Cast(builder.ReadTensor(result, to), type);
    const Expr update = Combined(old, updates_.At(builder, at));
    const Expr value =
        position.is_in_range ? Expr::Select(*position.is_in_range, update, old) : update;
    const Expr stored = Expr::Cast(value, context_.tensor(result).type);
    context_.Emit(std::move(builder).Build(Name(result) + "_updates", {result, to}, stored));
  }

  Expr Combined(const Expr& old, const Expr& update) const {
    if (reduction() == "add") return old + update;
    if (reduction() == "mul") return old * update;
    if (reduction() == "min") return Min(old, update);
    if (reduction() == "max") return Max(old, update);
    return update;
  }

  std::string Name(TensorId id) const { return context_.tensor(id).name; }

  LowerContext& context_;
  const Node& node_;
  size_t axis_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> joined_;  // shape_ with the axes of one flattened index joined
  Lazy updates_;
};

}  // namespace

// Lowers out = data; out[i.., indices[i.., u, j..], j..] = updates[i.., u, j..], or combines both.
Result<Lazy> LowerScatter(LowerContext& context, const Node& node) {
  return Scatter(context, node).Lower();
}

}  // namespace tunec::lower
