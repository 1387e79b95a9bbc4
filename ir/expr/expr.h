// Immutable scalar expressions: the bodies of statements and stores. Nodes are shared and never
// changed. Equality and order are structural.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/data_type.h"
#include "ir/expr/index_expr.h"
#include "ir/expr/scalar_op.h"

namespace tunec {

enum class ExprKind : uint8_t {
  kConstant,     // a literal
  kRead,         // the value of the statement's read number `slot`
  kIndex,        // an index expression as a number
  kHolds,        // true if all index expressions of a list are >= 0
  kAccumulator,  // in a Reducer: the value accumulated so far by write `slot`
  kIncoming,     // in a Reducer: the body's value for write `slot`
  kApply,        // a ScalarOp
  kCast,         // conversion: floats to integers truncate; to bool compares with 0
};

class Expr;

struct ExprNode {
  ExprKind kind = ExprKind::kConstant;
  DataType type = DataType::kF32;
  ScalarOp op = ScalarOp::kAdd;  // kApply
  int slot = 0;                  // kRead, kAccumulator, kIncoming
  double float_value = 0;        // kConstant of a float type
  int64_t int_value = 0;         // kConstant of an integer type or bool
  std::vector<IndexExpr> index;  // kIndex: one; kHolds: any number
  std::vector<Expr> operands;    // kApply, kCast
};

class Expr {
 public:
  /// Makes the literal 0 of type f32.
  Expr() : Expr(Constant(0.0, DataType::kF32)) {}

  /// Make a literal. For a float type the value is rounded. For an integer type, an int64 wraps and
  /// a double saturates. For bool, the literal is value != 0.
  static Expr Constant(double value, DataType type);
  static Expr Constant(int64_t value, DataType type);
  static Expr Constant(int value, DataType type) { return Constant(int64_t{value}, type); }
  static Expr Read(int slot, DataType type);
  static Expr Index(IndexExpr index, DataType type = DataType::kI64);
  static Expr Holds(std::vector<IndexExpr> nonnegative);
  static Expr Accumulator(int slot, DataType type);
  static Expr Incoming(int slot, DataType type);
  /// Applies an operator. Requires Arity(op) operands of one type, but the first operand of kSelect
  /// is a bool, the condition.
  static Expr Apply(ScalarOp op, std::vector<Expr> operands);
  static Expr Cast(Expr operand, DataType type);  // returns the operand itself if it has this type
  static Expr Select(Expr condition, Expr yes, Expr no);

  const ExprNode& node() const { return *node_; }
  ExprKind kind() const { return node_->kind; }
  DataType type() const { return node_->type; }
  const std::vector<Expr>& operands() const { return node_->operands; }
  bool IsConstant() const { return kind() == ExprKind::kConstant; }
  /// Returns whether the expression is a literal that equals `value`. 0.0 and -0.0 are equal.
  bool IsConstant(double value) const;
  bool Is(ScalarOp op) const { return kind() == ExprKind::kApply && node_->op == op; }

  std::strong_ordering operator<=>(const Expr& other) const;
  bool operator==(const Expr& other) const { return (*this <=> other) == 0; }

 private:
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const ExprNode> node_;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr Max(Expr a, Expr b);
Expr Min(Expr a, Expr b);
/// Applies a one-operand operator, as in Unary(ScalarOp::kExp, x).
Expr Unary(ScalarOp op, Expr a);

/// Rebuilds the expression bottom-up. `rewrite` receives each node after its operands are
/// rewritten, and returns the node or its replacement.
Expr Transform(const Expr& expr, const std::function<Expr(const Expr&)>& rewrite);
/// Calls `visit` for every node, operands first.
void Visit(const Expr& expr, const std::function<void(const Expr&)>& visit);
/// Applies `rewrite` to every index expression inside the expression.
Expr TransformIndices(const Expr& expr, const std::function<IndexExpr(const IndexExpr&)>& rewrite);
/// Replaces every kRead node by replacement(slot, type) of its slot and type.
Expr ReplaceReads(const Expr& expr,
                  const std::function<Expr(int slot, DataType type)>& replacement);

/// Applies the rewrites of simplify.cc to all nodes, repeatedly until nothing changes, at most 16
/// times.
Expr Simplify(const Expr& expr);

/// Returns text with infix + - * / and calls for all other operators, as in `max(A * B, 1.0) + C`.
/// `read_name(slot)` is the name of a read.
std::string Print(const Expr& expr, const std::function<std::string(VarId)>& variable_name,
                  const std::function<std::string(int)>& read_name);

}  // namespace tunec
