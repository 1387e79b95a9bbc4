#include "ir/expr/evaluate_expr.h"

#include "ir/rounding.h"

namespace tunec {
namespace {

// Returns the type that selects an operator's implementation: the type of the operands, or of the
// values for select.
DataType OperandType(const Expr& apply) {
  const std::vector<Expr>& operands = apply.operands();
  return operands[apply.node().op == ScalarOp::kSelect ? 1 : 0].type();
}

bool AllHold(const std::vector<IndexExpr>& conditions, const ExprInputs& inputs) {
  for (const IndexExpr& condition : conditions) {
    if (Evaluate(condition, inputs.variables, inputs.loaded) < 0) return false;
  }
  return true;
}

}  // namespace

Scalar ConvertScalar(const Scalar& value, DataType from, DataType to, Precision precision) {
  if (value.invalid || from == to) return value;
  if (!IsFloat(to)) {
    return Scalar::Integer(IsFloat(from) ? CastToInt(value.real, to) : WrapTo(value.integer, to));
  }
  if (!IsFloat(from)) {
    // Converts an i64 to f32 directly: rounding first to double could give another result.
    const bool single = to == DataType::kF32 && from != DataType::kU64;
    if (single && precision == Precision::kNative) {
      return Scalar::Real(static_cast<float>(value.integer));
    }
    const double wide = IntToDouble(value.integer, from);
    return Scalar::Real(precision == Precision::kNative ? RoundTo(wide, to) : wide);
  }
  return precision == Precision::kNative ? Scalar::Real(RoundTo(value.real, to)) : value;
}

Scalar IndexScalar(int64_t value, DataType type, Precision precision) {
  return ConvertScalar(Scalar::Integer(value), DataType::kI64, type, precision);
}

Scalar ScalarOf(const Expr& constant) {
  return {.real = constant.node().float_value, .integer = constant.node().int_value};
}

Expr ConstantOf(const Scalar& value, DataType type) {
  return IsFloat(type) ? Expr::Constant(value.real, type) : Expr::Constant(value.integer, type);
}

ExprProgram::ExprProgram(const Expr& expr, Precision precision) : precision_(precision) {
  Append(expr);
  stack_.reserve(code_.size());
}

void ExprProgram::Append(const Expr& expr) {
  for (const Expr& operand : expr.operands()) Append(operand);
  const ExprNode& node = expr.node();
  Instruction instruction{.kind = node.kind,
                          .op = node.op,
                          .type = node.type,
                          .operand_type = node.type,
                          .slot = node.slot,
                          .constant = {},
                          .index = node.index};
  if (node.kind == ExprKind::kConstant) instruction.constant = ScalarOf(expr);
  if (node.kind == ExprKind::kCast) instruction.operand_type = node.operands[0].type();
  if (node.kind == ExprKind::kApply) {
    instruction.operand_type = OperandType(expr);
    instruction.slot = static_cast<int>(node.operands.size());
  }
  code_.push_back(std::move(instruction));
}

Scalar ExprProgram::Run(const ExprInputs& inputs) const {
  stack_.clear();
  for (const Instruction& step : code_) {
    switch (step.kind) {
      case ExprKind::kConstant:
        stack_.push_back(step.constant);
        break;
      case ExprKind::kRead:
        stack_.push_back(inputs.reads[step.slot]);
        break;
      case ExprKind::kAccumulator:
        stack_.push_back(inputs.accumulators[step.slot]);
        break;
      case ExprKind::kIncoming:
        stack_.push_back(inputs.incoming[step.slot]);
        break;
      case ExprKind::kIndex:
        stack_.push_back(IndexScalar(Evaluate(step.index[0], inputs.variables, inputs.loaded),
                                     step.type, precision_));
        break;
      case ExprKind::kHolds:
        stack_.push_back(Scalar::Integer(AllHold(step.index, inputs) ? 1 : 0));
        break;
      case ExprKind::kCast:
        stack_.back() = ConvertScalar(stack_.back(), step.operand_type, step.type, precision_);
        break;
      case ExprKind::kApply: {
        const size_t first = stack_.size() - static_cast<size_t>(step.slot);
        const Scalar result =
            ApplyOp(step.op, step.operand_type, std::span(stack_).subspan(first), precision_);
        stack_.resize(first);
        stack_.push_back(result);
        break;
      }
    }
  }
  return stack_.back();
}

Scalar EvaluateConstant(const Expr& expr, Precision precision) {
  return ExprProgram(expr, precision).Run({});
}

}  // namespace tunec
