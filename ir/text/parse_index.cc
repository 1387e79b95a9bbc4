// The parser of index expressions and conditions. The grammar of index expressions is
//   sum    := ['-'] term (('+' | '-') term)*
//   term   := factor ('*' factor | 'mod' integer)*
//   factor := integer | variable | '(' sum ')' | 'floor' '(' term '/' integer ')'
//           | '@' slot | '@' '(' read ')'
#include "ir/text/parse_expr.h"

namespace tunec {
namespace {

// The largest literal, and the largest magnitude of a coefficient in a product.
constexpr int64_t kLargestLiteral = int64_t{1} << 48;
constexpr int kDeepest = 500;

}  // namespace

Status ExprParser::CheckDepth() const {
  if (depth_ < kDeepest) return {};
  return FailAt(lexer_.Here(), ErrorCode::kParse, "expression nested more than {} deep", kDeepest);
}

Result<IndexExpr> ExprParser::ParseIndex() {
  TUNEC_RETURN_IF_ERROR(CheckDepth());
  ++depth_;
  const bool negative = lexer_.TryTake("-");
  TUNEC_ASSIGN(IndexExpr sum, ParseIndexTerm());
  if (negative) sum = -sum;
  while (lexer_.At("+") || lexer_.At("-")) {
    const bool minus = lexer_.Next().text == "-";
    TUNEC_ASSIGN(const IndexExpr term, ParseIndexTerm());
    sum = minus ? sum - term : sum + term;
  }
  --depth_;
  return sum;
}

Result<IndexExpr> ExprParser::ParseIndexTerm() {
  TUNEC_ASSIGN(IndexExpr term, ParseIndexFactor());
  while (true) {
    if (lexer_.TryTake("mod")) {
      TUNEC_ASSIGN(const int64_t modulus, ParseDivisor());
      term = IndexExpr::Mod(term, modulus);
    } else if (lexer_.TryTake("*")) {
      TUNEC_ASSIGN(term, ParseIndexProduct(term));
    } else {
      return term;
    }
  }
}

Result<IndexExpr> ExprParser::ParseIndexProduct(const IndexExpr& left) {
  const Token at = lexer_.Peek();
  TUNEC_ASSIGN(const IndexExpr right, ParseIndexFactor());
  if (!left.IsConstant() && !right.IsConstant()) {
    return FailAt(lexer_.LocationOf(at), ErrorCode::kParse,
                  "a product in an index needs a constant factor");
  }
  const IndexExpr& expr = left.IsConstant() ? right : left;
  const int64_t factor = left.IsConstant() ? left.constant() : right.constant();
  int64_t product = 0;
  bool overflow = __builtin_mul_overflow(expr.constant(), factor, &product);
  for (const IndexTerm& term : expr.terms()) {
    overflow |= __builtin_mul_overflow(term.coefficient, factor, &product);
    overflow |= product > kLargestLiteral || product < -kLargestLiteral;
  }
  if (overflow) {
    return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "a coefficient is out of range");
  }
  return expr * factor;
}

Result<IndexExpr> ExprParser::ParseIndexFactor() {
  if (lexer_.Peek().kind == TokenKind::kInteger) {
    TUNEC_ASSIGN(const int64_t value, ParseIndexLiteral());
    return IndexExpr(value);
  }
  if (lexer_.TryTake("(")) {
    TUNEC_ASSIGN(IndexExpr inner, ParseIndex());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return inner;
  }
  if (lexer_.At("@")) return ParseLoaded();
  if (lexer_.At("floor")) return ParseFloor();
  const Token token = lexer_.Peek();
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectName("an index expression"));
  const auto variable = variables_(name);
  if (!variable) {
    return FailAt(lexer_.LocationOf(token), ErrorCode::kParse, "no variable is called {} here",
                  name);
  }
  return IndexExpr::Var(*variable);
}

Result<IndexExpr> ExprParser::ParseFloor() {
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("floor"));
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  TUNEC_ASSIGN(const IndexExpr numerator, ParseIndexTerm());
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("/"));
  TUNEC_ASSIGN(const int64_t divisor, ParseDivisor());
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
  return IndexExpr::FloorDiv(numerator, divisor);
}

Result<IndexExpr> ExprParser::ParseLoaded() {
  if (lexer_.Peek(1).kind == TokenKind::kInteger) {
    TUNEC_ASSIGN(const int slot, ParseSlotNumber());
    return IndexExpr::Loaded(slot);
  }
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("@"));
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  TUNEC_RETURN_IF_ERROR(CheckDepth());
  ++depth_;
  TUNEC_ASSIGN(const Read read, ParseRead());
  --depth_;
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
  return IndexExpr::Loaded(SlotOf(read));
}

Result<int> ExprParser::ParseSlotNumber() {
  const Token at = lexer_.Peek();
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("@"));
  TUNEC_ASSIGN(const int64_t slot, lexer_.ExpectInteger("the number of a read"));
  if (slot < 0 || slot >= static_cast<int64_t>(reads_.size())) {
    return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "@{} is not a read above", slot);
  }
  return static_cast<int>(slot);
}

Result<int64_t> ExprParser::ParseIndexLiteral() {
  const Token at = lexer_.Peek();
  TUNEC_ASSIGN(const int64_t value, lexer_.ExpectInteger("an integer"));
  if (value <= kLargestLiteral) return value;
  return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "{} is too large for an index", value);
}

Result<int64_t> ExprParser::ParseDivisor() {
  const Token at = lexer_.Peek();
  TUNEC_ASSIGN(const int64_t value, ParseIndexLiteral());
  if (value > 0) return value;
  return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "divisor {}, expected a positive one",
                value);
}

Result<IndexExpr> ExprParser::ParseCondition() {
  TUNEC_ASSIGN(const IndexExpr left, ParseIndex());
  const bool known = lexer_.At(">=") || lexer_.At("<=") || lexer_.At("<") || lexer_.At(">");
  if (!known) return lexer_.Expected("'>=', '<=', '<' or '>'");
  const Token relation = lexer_.Next();
  TUNEC_ASSIGN(const IndexExpr right, ParseIndex());
  if (relation.text == ">=") return left - right;
  if (relation.text == ">") return left - right - 1;
  if (relation.text == "<=") return right - left;
  return right - left - 1;
}

Result<std::vector<IndexExpr>> ExprParser::ParseConditions(std::string_view end) {
  std::vector<IndexExpr> conditions;
  if (lexer_.At(end)) return conditions;
  do {
    TUNEC_ASSIGN(IndexExpr condition, ParseCondition());
    conditions.push_back(std::move(condition));
  } while (lexer_.TryTake(","));
  return conditions;
}

}  // namespace tunec
