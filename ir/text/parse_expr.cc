// The parser of scalar expressions, reads and writes. The grammar of scalar expressions is
//   expr    := product (('+' | '-') product)*
//   product := primary (('*' | '/') primary)*
//   primary := literal | read | '@' slot | '-' primary | '(' expr ')'
//            | operator '(' expr, ... ')' | type '(' expr ')'
//            | 'index_'type '(' index ')' | 'holds' '(' condition, ... ')'
//            | 'acc'slot'_'type | 'new'slot'_'type
#include "ir/text/parse_expr.h"

#include <charconv>
#include <limits>

#include "ir/text/print_statement.h"

namespace tunec {
namespace {

// Returns the type whose name follows the prefix of a word such as index_i64, if there is one.
std::optional<DataType> TypeAfter(std::string_view word, std::string_view prefix) {
  return word.starts_with(prefix) ? ParseDataType(word.substr(prefix.size())) : std::nullopt;
}

struct ReducerSlot {
  int slot = 0;
  DataType type = DataType::kF32;
};

// Parses a word such as `acc3_f32` with the prefix `acc`. Returns nothing for other words.
std::optional<ReducerSlot> ParseReducerSlot(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  word.remove_prefix(prefix.size());
  int slot = 0;
  const auto number = std::from_chars(word.data(), word.data() + word.size(), slot);
  if (number.ec != std::errc() || number.ptr == word.data()) return std::nullopt;
  word.remove_prefix(static_cast<size_t>(number.ptr - word.data()));
  const auto type = TypeAfter(word, "_");
  if (!type) return std::nullopt;
  return ReducerSlot{slot, *type};
}

// Parses inf or nan with an optional type, such as inff64. Returns nothing for other words.
std::optional<Expr> ParseSpecialFloat(std::string_view word, bool negative) {
  double value = 0;
  if (word.starts_with("inf")) {
    value = std::numeric_limits<double>::infinity();
  } else if (word.starts_with("nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    return std::nullopt;
  }
  const auto type = word.size() == 3 ? DataType::kF32 : TypeAfter(word, word.substr(0, 3));
  if (!type || !IsFloat(*type)) return std::nullopt;
  return Expr::Constant(negative ? -value : value, *type);
}

// Returns the reason why the operator cannot have this number of operands, or this combination of
// operand types. Returns an empty string without such a reason. The operator may still not be
// defined for the type.
std::string Misfit(ScalarOp op, const std::vector<Expr>& operands) {
  if (static_cast<int>(operands.size()) != Arity(op)) {
    return fmt::format("{} has {} operands, expected {}", Name(op), operands.size(), Arity(op));
  }
  const size_t first = op == ScalarOp::kSelect ? 1 : 0;
  if (first == 1 && operands[0].type() != DataType::kBool) {
    return fmt::format("select on {}, expected bool", Name(operands[0].type()));
  }
  for (const Expr& operand : std::span(operands).subspan(first)) {
    if (operand.type() == operands[first].type()) continue;
    return fmt::format("{} of {} and {}, expected one type", Name(op), Name(operands[first].type()),
                       Name(operand.type()));
  }
  return "";
}

}  // namespace

Result<Expr> ExprParser::ParseExpr() {
  TUNEC_RETURN_IF_ERROR(CheckDepth());
  ++depth_;
  TUNEC_ASSIGN(Expr sum, ParseProduct());
  while (lexer_.At("+") || lexer_.At("-")) {
    const Token op = lexer_.Next();
    TUNEC_ASSIGN(Expr term, ParseProduct());
    TUNEC_ASSIGN(sum, ApplyChecked(op.text == "+" ? ScalarOp::kAdd : ScalarOp::kSub,
                                   {std::move(sum), std::move(term)}, op));
  }
  --depth_;
  return sum;
}

Result<Expr> ExprParser::ParseProduct() {
  TUNEC_ASSIGN(Expr product, ParsePrimary());
  while (lexer_.At("*") || lexer_.At("/")) {
    const Token op = lexer_.Next();
    TUNEC_ASSIGN(Expr factor, ParsePrimary());
    TUNEC_ASSIGN(product, ApplyChecked(op.text == "*" ? ScalarOp::kMul : ScalarOp::kDiv,
                                       {std::move(product), std::move(factor)}, op));
  }
  return product;
}

Result<Expr> ExprParser::ApplyChecked(ScalarOp op, std::vector<Expr> operands, const Token& at) {
  const std::string misfit = Misfit(op, operands);
  if (!misfit.empty()) return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "{}", misfit);
  return Expr::Apply(op, std::move(operands));
}

Result<Expr> ExprParser::ParsePrimary() {
  const Token at = lexer_.Peek();
  const Token& after = lexer_.Peek(1);
  const bool number = at.kind == TokenKind::kInteger || at.kind == TokenKind::kFloat;
  if (number) return ParseLiteral();
  if (lexer_.At("-")) {
    const bool literal = after.kind == TokenKind::kInteger || after.kind == TokenKind::kFloat ||
                         ParseSpecialFloat(after.text, true).has_value();
    if (literal) return ParseLiteral();
    lexer_.Next();
    TUNEC_RETURN_IF_ERROR(CheckDepth());
    ++depth_;
    TUNEC_ASSIGN(Expr operand, ParsePrimary());
    --depth_;
    return -operand;
  }
  if (lexer_.TryTake("(")) {
    TUNEC_ASSIGN(Expr inner, ParseExpr());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return inner;
  }
  if (lexer_.At("@")) {
    TUNEC_ASSIGN(const int slot, ParseSlotNumber());
    return Expr::Read(slot, tensors_[reads_[slot].tensor].type);
  }
  const bool named = at.kind == TokenKind::kIdentifier || at.kind == TokenKind::kString;
  if (named && after.text == "[") return ParseReadExpr();
  if (at.kind == TokenKind::kIdentifier && after.text == "(") return ParseCall();
  if (at.kind == TokenKind::kIdentifier) return ParseWord();
  return lexer_.Expected("an expression");
}

// Parses a number with its type as a suffix, such as 1.5f64 or 3i64, or a negative inf or nan.
// Without a suffix, a number with a decimal point or exponent is f32, and an integer is an error.
Result<Expr> ExprParser::ParseLiteral() {
  const bool negative = lexer_.At("-");
  const Token& number = lexer_.Peek(negative ? 1 : 0);
  if (number.kind == TokenKind::kIdentifier) {
    lexer_.Next();
    return *ParseSpecialFloat(lexer_.Next().text, negative);
  }
  const Token& suffix = lexer_.Peek(negative ? 2 : 1);
  const bool glued = suffix.kind == TokenKind::kIdentifier && !suffix.follows_space;
  const auto type = glued ? ParseDataType(suffix.text) : DataType::kF32;
  if (!type) {
    return FailAt(lexer_.LocationOf(suffix), ErrorCode::kParse, "no type is called {}",
                  suffix.text);
  }
  Expr literal;
  if (IsFloat(*type)) {
    if (number.kind == TokenKind::kInteger && !glued) {
      return FailAt(lexer_.LocationOf(number), ErrorCode::kParse,
                    "literal {} has no type, expected one as in {}.0 or {}i64", number.text,
                    number.text, number.text);
    }
    // Reads the digits of types other than f64 as f32, if f32 has the range. For f32, rounding to
    // f64 first could change the result.
    float narrow = 0;
    const char* end = number.text.data() + number.text.size();
    const bool single = *type != DataType::kF64 &&
                        std::from_chars(number.text.data(), end, narrow).ec == std::errc();
    TUNEC_ASSIGN(const double wide, lexer_.ExpectNumber("a number"));
    literal = Expr::Constant(single ? (negative ? -narrow : narrow) : wide, *type);
  } else {
    TUNEC_ASSIGN(const int64_t value, lexer_.ExpectInteger("an integer"));
    literal = Expr::Constant(value, *type);
  }
  if (glued) lexer_.Next();
  return literal;
}

int ExprParser::SlotOf(const Read& read) {
  for (size_t slot = 0; slot < reads_.size(); ++slot) {
    if (AreSameRead(reads_[slot], read)) return static_cast<int>(slot);
  }
  reads_.push_back(read);
  return static_cast<int>(reads_.size()) - 1;
}

Result<Expr> ExprParser::ParseReadExpr() {
  TUNEC_ASSIGN(const Read read, ParseRead());
  return Expr::Read(SlotOf(read), tensors_[read.tensor].type);
}

Result<Read> ExprParser::ParseRead() {
  Read read;
  TUNEC_ASSIGN(read.tensor, ParseTensorName());
  TUNEC_ASSIGN(read.index, ParseSubscripts());
  if (!lexer_.TryTake("where")) return read;
  Guard guard;
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  TUNEC_ASSIGN(guard.nonnegative, ParseConditions(")"));
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("else"));
  TUNEC_ASSIGN(guard.outside, lexer_.ExpectNumber("the value outside the guard"));
  read.guard = std::move(guard);
  return read;
}

Result<Write> ExprParser::ParseWrite() {
  Write write;
  TUNEC_ASSIGN(write.tensor, ParseTensorName());
  TUNEC_ASSIGN(write.index, ParseSubscripts());
  return write;
}

Result<std::vector<IndexExpr>> ExprParser::ParseSubscripts() {
  std::vector<IndexExpr> subscripts;
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("["));
  if (lexer_.TryTake("]")) return subscripts;
  do {
    TUNEC_ASSIGN(IndexExpr subscript, ParseIndex());
    subscripts.push_back(std::move(subscript));
  } while (lexer_.TryTake(","));
  if (!lexer_.TryTake("]")) return lexer_.Expected("',' or ']'");
  return subscripts;
}

Result<TensorId> ExprParser::ParseTensorName() {
  const Token at = lexer_.Peek();
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectName("a tensor"));
  for (const TensorId t : tensors_.ids()) {
    if (tensors_[t].name == name) return t;
  }
  return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "no tensor is called {}", name);
}

Result<std::vector<Expr>> ExprParser::ParseExprList() {
  std::vector<Expr> list;
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  if (lexer_.TryTake(")")) return list;
  do {
    TUNEC_ASSIGN(Expr expr, ParseExpr());
    list.push_back(std::move(expr));
  } while (lexer_.TryTake(","));
  if (!lexer_.TryTake(")")) return lexer_.Expected("',' or ')'");
  return list;
}

Result<Expr> ExprParser::ParseCall() {
  const Token name = lexer_.Next();
  if (const auto type = TypeAfter(name.text, "index_")) {
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
    TUNEC_ASSIGN(IndexExpr index, ParseIndex());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return Expr::Index(std::move(index), *type);
  }
  if (name.text == "holds") {
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
    TUNEC_ASSIGN(std::vector<IndexExpr> conditions, ParseConditions(")"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return Expr::Holds(std::move(conditions));
  }
  const auto type = ParseDataType(name.text);
  const auto op = ParseScalarOp(name.text);
  if (!type && !op) {
    return FailAt(lexer_.LocationOf(name), ErrorCode::kParse, "no operator or type is called {}",
                  name.text);
  }
  TUNEC_ASSIGN(std::vector<Expr> operands, ParseExprList());
  if (op) return ApplyChecked(*op, std::move(operands), name);
  if (operands.size() == 1) return Expr::Cast(operands[0], *type);
  return FailAt(lexer_.LocationOf(name), ErrorCode::kParse,
                "cast to {} has {} operands, expected 1", name.text, operands.size());
}

Result<Expr> ExprParser::ParseWord() {
  const std::string_view word = lexer_.Peek().text;
  std::optional<Expr> expr = ParseSpecialFloat(word, false);
  if (word == "true") expr = Expr::Constant(1, DataType::kBool);
  if (word == "false") expr = Expr::Constant(0, DataType::kBool);
  if (const auto slot = ParseReducerSlot(word, "acc")) {
    expr = Expr::Accumulator(slot->slot, slot->type);
  }
  if (const auto slot = ParseReducerSlot(word, "new")) {
    expr = Expr::Incoming(slot->slot, slot->type);
  }
  if (!expr) return lexer_.Expected("an expression");
  lexer_.Next();
  return *expr;
}

}  // namespace tunec
