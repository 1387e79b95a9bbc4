#include <unordered_map>

#include "jit/emit_state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

class ExprEmitter {
 public:
  ExprEmitter(EmitState& state, const ExprInputs& inputs)
      : state_(state), b_(state.builder), inputs_(inputs) {}

  IrValue Emit(const Expr& expr) {
    // Nodes are shared: each is computed once.
    if (const auto it = done_.find(&expr.node()); it != done_.end()) return it->second;
    const IrValue value = EmitNew(expr);
    done_[&expr.node()] = value;
    return value;
  }

 private:
  static IrValue Input(const std::vector<IrValue>* from, int slot) {
    TUNEC_CHECK(from != nullptr && slot >= 0 && slot < static_cast<int>(from->size()),
                "no input {}", slot);
    return (*from)[slot];
  }

  IrValue EmitNew(const Expr& expr) {
    const ExprNode& node = expr.node();
    switch (node.kind) {
      case ExprKind::kConstant:
        return EmitConstant(b_, node);
      case ExprKind::kRead:
        return Input(inputs_.reads, node.slot);
      case ExprKind::kAccumulator:
        return Input(inputs_.accumulators, node.slot);
      case ExprKind::kIncoming:
        return Input(inputs_.incoming, node.slot);
      case ExprKind::kIndex:
        return IndexValue(node.index[0], node.type);
      case ExprKind::kHolds:
        return Holds(node.index);
      case ExprKind::kCast:
        return CastValue(expr);
      case ExprKind::kApply:
        return Apply(expr);
    }
    TUNEC_UNREACHABLE("expression kind {}", static_cast<int>(node.kind));
  }

  IrValue Apply(const Expr& expr) {
    std::vector<IrValue> operands;
    for (const Expr& operand : expr.operands()) operands.push_back(Emit(operand));
    const DataType type = expr.operands().back().type();
    return RoundToType(b_, EmitOp(b_, expr.node().op, type, operands), expr.type());
  }

  IrValue CastValue(const Expr& expr) {
    const Expr& operand = expr.operands()[0];
    // An index becomes the wanted type at once, not by way of 64-bit lanes.
    if (operand.kind() == ExprKind::kIndex) return IndexValue(operand.node().index[0], expr.type());
    return EmitCast(b_, Emit(operand), operand.type(), expr.type());
  }

  IrValue IndexValue(const IndexExpr& index, DataType type) {
    const LinearIndex value = state_.index.Evaluate(index);
    if (value.IsUniform()) return EmitCast(b_, state_.index.Scalar(value), DataType::kI64, type);
    const Interval bounds = state_.index.Bounds(index, value);
    const bool narrow = bounds.lo >= INT32_MIN && bounds.hi <= INT32_MAX;
    const IrValue lanes = state_.index.Vector(value, narrow ? Element::kI32 : Element::kI64);
    return EmitCast(b_, lanes, narrow ? DataType::kI32 : DataType::kI64, type);
  }

  IrValue Holds(const std::vector<IndexExpr>& nonnegative) {
    const Condition condition = EmitCondition(state_, nonnegative);
    if (condition.kind == Condition::Kind::kAlways) return b_.Bool(true);
    return condition.value;
  }

  EmitState& state_;
  Builder& b_;
  const ExprInputs& inputs_;
  std::unordered_map<const ExprNode*, IrValue> done_;
};

}  // namespace

IrValue EmitExpr(EmitState& state, const Expr& expr, const ExprInputs& inputs) {
  return ExprEmitter(state, inputs).Emit(expr);
}

}  // namespace tunec::jit
