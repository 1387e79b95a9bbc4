// The evaluation of scalar expressions, shared by the interpreters and constant folding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/expr/expr.h"

namespace tunec {

/// The precision of an evaluation. kNative rounds the result of each operation to its type.
/// kFloat64 stores every float as a double, without rounding. Its results are the reference for
/// errors.
enum class Precision { kNative, kFloat64 };

/// A value of any type: `real` holds floats, `integer` holds integers and bool (u64 by its bits).
/// `invalid` marks the result of an integer division by zero. Every result that uses an invalid
/// value is invalid. A select uses only its condition and the chosen operand.
struct Scalar {
  double real = 0;
  int64_t integer = 0;
  bool invalid = false;

  static Scalar Real(double value) { return {.real = value}; }
  static Scalar Integer(int64_t value) { return {.integer = value}; }
  static Scalar Invalid() { return {.invalid = true}; }
};

/// Returns whether the operator is defined for operands of this type. For kSelect, these are the
/// two values, not the condition.
bool IsDefined(ScalarOp op, DataType operand_type);

/// Returns the result of `op`. All operands have the type `operand_type`, except that the condition
/// of kSelect is bool. Float results are computed in double. Under kNative they are then rounded to
/// the type, but fma of f32 is computed in f32. For + - * / and sqrt, the rounding gives the
/// correctly rounded result of every float type. Integers wrap, shift amounts outside the type
/// shift all bits out, and min and max propagate NaN. An integer division by zero is invalid.
/// Requires IsDefined(op, operand_type).
Scalar ApplyOp(ScalarOp op, DataType operand_type, std::span<const Scalar> operands,
               Precision precision);

Scalar ConvertScalar(const Scalar& value, DataType from, DataType to, Precision precision);

/// Returns the value `value` of an index expression, converted to the type.
Scalar IndexScalar(int64_t value, DataType type, Precision precision);

/// Convert a literal to its value, and a value to a literal.
Scalar ScalarOf(const Expr& constant);
Expr ConstantOf(const Scalar& value, DataType type);

/// The values of an expression's leaves.
struct ExprInputs {
  std::span<const Scalar> reads;
  std::span<const Scalar> accumulators;
  std::span<const Scalar> incoming;
  std::span<const int64_t> variables;
  std::span<const int64_t> loaded;  // the reads as integers, for index expressions
};

/// An expression as postfix code, so that evaluation visits a flat array instead of a tree.
class ExprProgram {
 public:
  ExprProgram(const Expr& expr, Precision precision);
  /// Evaluates the expression. The function is not thread-safe, because all calls use one stack.
  Scalar Run(const ExprInputs& inputs) const;

 private:
  struct Instruction {
    ExprKind kind;
    ScalarOp op;
    DataType type;          // type of the result
    DataType operand_type;  // kApply, kCast
    int slot;               // slot of a read, accumulator or incoming value; for kApply, the number
                            // of operands
    Scalar constant;
    std::vector<IndexExpr> index;
  };
  void Append(const Expr& expr);

  std::vector<Instruction> code_;
  mutable std::vector<Scalar> stack_;
  Precision precision_;
};

/// Returns the value of an expression without reads, variables or reducer slots.
Scalar EvaluateConstant(const Expr& expr, Precision precision);

}  // namespace tunec
