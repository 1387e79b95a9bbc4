#include <bit>
#include <map>
#include <unordered_map>

#include "jit/emit/state.h"
#include "jit/math/math.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

// A key of an expression, in which numbers represent the operands. Expressions with equal keys have
// equal values.
struct ExprKey {
  ExprKind kind;
  DataType type;
  ScalarOp op;
  int slot;
  uint64_t float_bits;
  int64_t int_value;
  std::vector<IndexExpr> index;
  std::vector<int> operands;
  auto operator<=>(const ExprKey&) const = default;
};

class ExprEmitter {
 public:
  ExprEmitter(EmitState& state, const ExprInputs& inputs)
      : state_(state), b_(state.builder), inputs_(inputs) {}

  // Returns the value of an expression. Equal parts of an expression are computed once, even if
  // they share no nodes: lowering builds the expression of an operand again for each use.
  IrValue Emit(const Expr& expr) {
    const int number = NumberOf(expr);
    if (const auto it = done_.find(number); it != done_.end()) return it->second;
    const IrValue value = EmitNew(expr);
    done_[number] = value;
    return value;
  }

 private:
  int NumberOf(const Expr& expr) {
    const ExprNode& node = expr.node();
    if (const auto it = number_of_.find(&node); it != number_of_.end()) return it->second;
    ExprKey key{.kind = node.kind,
                .type = node.type,
                .op = node.op,
                .slot = node.slot,
                .float_bits = std::bit_cast<uint64_t>(node.float_value),
                .int_value = node.int_value,
                .index = node.index,
                .operands = {}};
    for (const Expr& operand : node.operands) key.operands.push_back(NumberOf(operand));
    const auto next = static_cast<int>(numbers_.size());
    return number_of_[&node] = numbers_.emplace(std::move(key), next).first->second;
  }

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
    // The exponential of a difference is one of a softmax, whose greatest one is 1.
    const bool flushed = expr.Is(ScalarOp::kExp) && expr.operands()[0].Is(ScalarOp::kSub) &&
                         IsFloat(type) && b_.flushes_denormals();
    const IrValue value =
        flushed ? EmitFlushedExp(b_, operands[0]) : EmitOp(b_, expr.node().op, type, operands);
    return RoundToType(b_, value, expr.type());
  }

  IrValue CastValue(const Expr& expr) {
    const Expr& operand = expr.operands()[0];
    // An index that fits in 32 bits is converted to the requested type without 64-bit lanes.
    if (operand.kind() == ExprKind::kIndex) return IndexValue(operand.node().index[0], expr.type());
    const FloatRange range = IsFloat(operand.type()) ? FloatRangeOf(operand) : FloatRange{};
    return EmitCast(b_, Emit(operand), operand.type(), expr.type(), range);
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
  std::map<ExprKey, int> numbers_;
  std::unordered_map<const ExprNode*, int> number_of_;
  std::unordered_map<int, IrValue> done_;
};

}  // namespace

IrValue EmitExpr(EmitState& state, const Expr& expr, const ExprInputs& inputs) {
  return ExprEmitter(state, inputs).Emit(expr);
}

}  // namespace tunec::jit
