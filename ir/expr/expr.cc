#include "ir/expr/expr.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "ir/rounding.h"
#include "support/check.h"

namespace tunec {
Expr Expr::Constant(double value, DataType type) {
  if (!IsFloat(type)) return Constant(SaturateToInt(value, type), type);
  ExprNode node{.kind = ExprKind::kConstant, .type = type};
  node.float_value = RoundTo(value, type);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Constant(int64_t value, DataType type) {
  if (IsFloat(type)) return Constant(static_cast<double>(value), type);
  ExprNode node{.kind = ExprKind::kConstant, .type = type};
  node.int_value = WrapTo(value, type);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Read(int slot, DataType type) {
  ExprNode node{.kind = ExprKind::kRead, .type = type};
  node.slot = slot;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Index(IndexExpr index, DataType type) {
  if (index.IsConstant()) return Constant(index.constant(), type);
  ExprNode node{.kind = ExprKind::kIndex, .type = type};
  node.index.push_back(std::move(index));
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Holds(std::vector<IndexExpr> nonnegative) {
  ExprNode node{.kind = ExprKind::kHolds, .type = DataType::kBool};
  for (IndexExpr& index : nonnegative) {
    if (!index.IsConstant()) {
      node.index.push_back(std::move(index));
    } else if (index.constant() < 0) {
      return Constant(0, DataType::kBool);
    }
  }
  if (node.index.empty()) return Constant(1, DataType::kBool);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Accumulator(int slot, DataType type) {
  ExprNode node{.kind = ExprKind::kAccumulator, .type = type};
  node.slot = slot;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Incoming(int slot, DataType type) {
  ExprNode node{.kind = ExprKind::kIncoming, .type = type};
  node.slot = slot;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Apply(ScalarOp op, std::vector<Expr> operands) {
  TUNEC_CHECK(static_cast<int>(operands.size()) == Arity(op), "{} takes {} operands, has {}",
              Name(op), Arity(op), operands.size());
  const size_t first = op == ScalarOp::kSelect ? 1 : 0;
  TUNEC_CHECK(first == 0 || operands[0].type() == DataType::kBool, "select on {}",
              Name(operands[0].type()));
  for (size_t i = first; i < operands.size(); ++i) {
    TUNEC_CHECK(operands[i].type() == operands[first].type(), "{} of {} and {}", Name(op),
                Name(operands[first].type()), Name(operands[i].type()));
  }
  ExprNode node{.kind = ExprKind::kApply};
  node.type = ResultOf(op) == ResultType::kBool ? DataType::kBool : operands[first].type();
  node.op = op;
  node.operands = std::move(operands);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Cast(Expr operand, DataType type) {
  if (operand.type() == type) return operand;
  ExprNode node{.kind = ExprKind::kCast, .type = type};
  node.operands.push_back(std::move(operand));
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr Expr::Select(Expr condition, Expr yes, Expr no) {
  return Apply(ScalarOp::kSelect, {std::move(condition), std::move(yes), std::move(no)});
}

bool Expr::IsConstant(double value) const {
  if (!IsConstant()) return false;
  return IsFloat(type()) ? node_->float_value == value
                         : static_cast<double>(node_->int_value) == value;
}

std::strong_ordering Expr::operator<=>(const Expr& other) const {
  if (node_ == other.node_) return std::strong_ordering::equal;
  const ExprNode& a = *node_;
  const ExprNode& b = *other.node_;
  if (auto c = a.kind <=> b.kind; c != 0) return c;
  if (auto c = a.type <=> b.type; c != 0) return c;
  if (auto c = a.op <=> b.op; c != 0) return c;
  if (auto c = a.slot <=> b.slot; c != 0) return c;
  // Compare bits: a NaN equals itself, and 0 differs from -0.
  if (auto c = std::bit_cast<uint64_t>(a.float_value) <=> std::bit_cast<uint64_t>(b.float_value);
      c != 0) {
    return c;
  }
  if (auto c = a.int_value <=> b.int_value; c != 0) return c;
  if (auto c = std::lexicographical_compare_three_way(a.index.begin(), a.index.end(),
                                                      b.index.begin(), b.index.end());
      c != 0) {
    return c;
  }
  return std::lexicographical_compare_three_way(a.operands.begin(), a.operands.end(),
                                                b.operands.begin(), b.operands.end());
}

Expr operator+(Expr a, Expr b) { return Expr::Apply(ScalarOp::kAdd, {std::move(a), std::move(b)}); }
Expr operator-(Expr a, Expr b) { return Expr::Apply(ScalarOp::kSub, {std::move(a), std::move(b)}); }
Expr operator*(Expr a, Expr b) { return Expr::Apply(ScalarOp::kMul, {std::move(a), std::move(b)}); }
Expr operator/(Expr a, Expr b) { return Expr::Apply(ScalarOp::kDiv, {std::move(a), std::move(b)}); }
Expr operator-(Expr a) { return Expr::Apply(ScalarOp::kNeg, {std::move(a)}); }
Expr Max(Expr a, Expr b) { return Expr::Apply(ScalarOp::kMax, {std::move(a), std::move(b)}); }
Expr Min(Expr a, Expr b) { return Expr::Apply(ScalarOp::kMin, {std::move(a), std::move(b)}); }
Expr Unary(ScalarOp op, Expr a) { return Expr::Apply(op, {std::move(a)}); }

Expr Transform(const Expr& expr, const std::function<Expr(const Expr&)>& rewrite) {
  if (expr.operands().empty()) return rewrite(expr);
  std::vector<Expr> operands;
  operands.reserve(expr.operands().size());
  bool changed = false;
  for (const Expr& operand : expr.operands()) {
    operands.push_back(Transform(operand, rewrite));
    changed |= &operands.back().node() != &operand.node();
  }
  if (!changed) return rewrite(expr);
  if (expr.kind() == ExprKind::kCast) return rewrite(Expr::Cast(operands[0], expr.type()));
  return rewrite(Expr::Apply(expr.node().op, std::move(operands)));
}

void Visit(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  for (const Expr& operand : expr.operands()) Visit(operand, visit);
  visit(expr);
}

Expr TransformIndices(const Expr& expr, const std::function<IndexExpr(const IndexExpr&)>& rewrite) {
  return Transform(expr, [&](const Expr& node) {
    if (node.kind() == ExprKind::kIndex) {
      return Expr::Index(rewrite(node.node().index[0]), node.type());
    }
    if (node.kind() != ExprKind::kHolds) return node;
    std::vector<IndexExpr> conditions;
    for (const IndexExpr& condition : node.node().index) conditions.push_back(rewrite(condition));
    return Expr::Holds(std::move(conditions));
  });
}

Expr ReplaceReads(const Expr& expr,
                  const std::function<Expr(int slot, DataType type)>& replacement) {
  return Transform(expr, [&](const Expr& node) {
    return node.kind() == ExprKind::kRead ? replacement(node.node().slot, node.type()) : node;
  });
}

namespace {

std::string PrintConstant(const Expr& expr) {
  if (!IsFloat(expr.type())) return fmt::format("{}{}", expr.node().int_value, Name(expr.type()));
  const double value = expr.node().float_value;
  std::string text = expr.type() == DataType::kF32 ? fmt::format("{}", static_cast<float>(value))
                                                   : fmt::format("{}", value);
  // Make the text visibly a float literal.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return expr.type() == DataType::kF32 ? text : text + std::string(Name(expr.type()));
}

std::string_view InfixOf(const Expr& expr) {
  if (expr.kind() != ExprKind::kApply) return "";
  switch (expr.node().op) {
    case ScalarOp::kAdd:
      return " + ";
    case ScalarOp::kSub:
      return " - ";
    case ScalarOp::kMul:
      return " * ";
    case ScalarOp::kDiv:
      return " / ";
    default:
      return "";
  }
}

// Returns the binding strength: 1 for sums and differences, 2 for products and quotients, and 3 for
// all other expressions.
int Strength(const Expr& expr) {
  const std::string_view infix = InfixOf(expr);
  if (infix.empty()) return 3;
  return infix == " + " || infix == " - " ? 1 : 2;
}

struct Printer {
  const std::function<std::string(VarId)>& variable_name;
  const std::function<std::string(int)>& read_name;

  std::string Operand(const Expr& expr, int at_least) const {
    return Strength(expr) < at_least ? "(" + Print(expr) + ")" : Print(expr);
  }

  std::string List(const std::vector<IndexExpr>& indices, std::string_view suffix) const {
    std::string text;
    for (const IndexExpr& index : indices) {
      if (!text.empty()) text += ", ";
      text += tunec::Print(index, variable_name);
      text += suffix;
    }
    return text;
  }

  std::string Print(const Expr& expr) const {
    const ExprNode& node = expr.node();
    switch (node.kind) {
      case ExprKind::kConstant:
        return PrintConstant(expr);
      case ExprKind::kRead:
        return read_name(node.slot);
      case ExprKind::kIndex:
        return fmt::format("index_{}({})", Name(node.type), List(node.index, ""));
      case ExprKind::kHolds:
        return fmt::format("holds({})", List(node.index, " >= 0"));
      case ExprKind::kAccumulator:
        return fmt::format("acc{}_{}", node.slot, Name(node.type));
      case ExprKind::kIncoming:
        return fmt::format("new{}_{}", node.slot, Name(node.type));
      case ExprKind::kCast:
        return fmt::format("{}({})", Name(node.type), Print(node.operands[0]));
      case ExprKind::kApply:
        break;
    }
    if (const std::string_view infix = InfixOf(expr); !infix.empty()) {
      const int strength = Strength(expr);
      return Operand(node.operands[0], strength) + std::string(infix) +
             Operand(node.operands[1], strength + 1);
    }
    std::string text = std::string(Name(node.op)) + "(";
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (i > 0) text += ", ";
      text += Print(node.operands[i]);
    }
    return text + ")";
  }
};

}  // namespace

std::string Print(const Expr& expr, const std::function<std::string(VarId)>& variable_name,
                  const std::function<std::string(int)>& read_name) {
  return Printer{variable_name, read_name}.Print(expr);
}

}  // namespace tunec
