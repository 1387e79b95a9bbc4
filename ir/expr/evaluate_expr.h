// The meaning of scalar expressions: shared by the interpreters and by constant folding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/expr/expr.h"

namespace tunec {

/// kNative rounds each operation to its type. kFloat64 carries every float in double
/// precision, whatever its type, and rounds nothing: the reference for errors.
enum class Precision { kNative, kFloat64 };

/// A value of any type: floats in `real`, integers and bool in `integer` (u64 by its bits).
/// `invalid` marks the result of an integer division by zero, and of whatever uses it but a
/// select that takes the other side.
struct Scalar {
  double real = 0;
  int64_t integer = 0;
  bool invalid = false;

  static Scalar Real(double value) { return {.real = value}; }
  static Scalar Integer(int64_t value) { return {.integer = value}; }
  static Scalar Invalid() { return {.invalid = true}; }
};

/// Whether the operator means something for operands of this type (kSelect: of its values).
bool IsDefined(ScalarOp op, DataType operand_type);

/// op(operands), each of `operand_type` (kSelect: the condition is bool). Under kNative the
/// result is rounded once to its type: every operator is computed in double, which is exact
/// enough that one rounding of + - * / sqrt to f32 or smaller is correct. Integers wrap, shift
/// amounts outside the type shift everything out, min and max propagate NaN.
/// Requires: IsDefined(op, operand_type).
Scalar ApplyOp(ScalarOp op, DataType operand_type, std::span<const Scalar> operands,
               Precision precision);

Scalar ConvertScalar(const Scalar& value, DataType from, DataType to, Precision precision);

/// The value of an index as a number of the type.
Scalar IndexScalar(int64_t value, DataType type, Precision precision);

/// The literal as a value, and a value as a literal.
Scalar ScalarOf(const Expr& constant);
Expr ConstantOf(const Scalar& value, DataType type);

/// What the leaves of an expression stand for.
struct ExprInputs {
  std::span<const Scalar> reads;
  std::span<const Scalar> accumulators;
  std::span<const Scalar> incoming;
  std::span<const int64_t> variables;
  std::span<const int64_t> loaded;  // the reads as integers, for index expressions
};

/// An expression as postfix code: evaluation visits a flat array instead of a tree.
class ExprProgram {
 public:
  ExprProgram(const Expr& expr, Precision precision);
  /// Not thread-safe: a program owns its stack.
  Scalar Run(const ExprInputs& inputs) const;

 private:
  struct Instruction {
    ExprKind kind;
    ScalarOp op;
    DataType type;          // of the result
    DataType operand_type;  // kApply, kCast
    int slot;               // of a read, accumulator or incoming value; the arity of kApply
    Scalar constant;
    std::vector<IndexExpr> index;
  };
  void Append(const Expr& expr);

  std::vector<Instruction> code_;
  mutable std::vector<Scalar> stack_;
  Precision precision_;
};

/// The value of an expression without reads, variables or reducer slots.
Scalar EvaluateConstant(const Expr& expr, Precision precision);

}  // namespace tunec
