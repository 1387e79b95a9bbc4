// The parser of the expressions in a rule: conditions, attributes and numbers.
#include <array>

#include "graph/rules/rule_functions.h"
#include "graph/rules/rule_scope.h"

namespace tunec {
namespace {

RuleExpr Call(const RuleFunction* function, std::vector<RuleExpr> operands) {
  RuleExpr expr{.kind = RuleExpr::Kind::kCall};
  expr.function = function;
  expr.operands = std::move(operands);
  return expr;
}

RuleExpr Combine(RuleExpr::Kind kind, std::vector<RuleExpr> operands) {
  if (operands.size() == 1) return std::move(operands[0]);
  RuleExpr expr{.kind = kind};
  expr.operands = std::move(operands);
  return expr;
}

RuleExpr Literal(Attribute value) {
  RuleExpr expr;
  expr.literal = std::move(value);
  return expr;
}

}  // namespace

bool AtKeyword(const Lexer& lexer, std::string_view word) {
  if (!lexer.At(word)) return false;
  const Token& after = lexer.Peek(1);
  return !lexer.Peek().starts_line || after.text != "(" || after.follows_space;
}

// Takes the sign if it is the next token, and returns whether it was taken. Outside the brackets of
// the expression, a minus that starts a line is not taken. It can begin the next rule.
bool RuleExprParser::TakeSign(std::string_view sign) {
  if (sign == "-" && lexer_.Peek().starts_line && depth_ == 0) return false;
  return lexer_.TryTake(sign);
}

Result<RuleExpr> RuleExprParser::Parse() {
  std::vector<RuleExpr> operands;
  do {
    TUNEC_ASSIGN(RuleExpr operand, ParseAnd());
    operands.push_back(std::move(operand));
  } while (AtKeyword(lexer_, "or") && lexer_.TryTake("or"));
  return Combine(RuleExpr::Kind::kOr, std::move(operands));
}

Result<RuleExpr> RuleExprParser::ParseAnd() {
  std::vector<RuleExpr> operands;
  do {
    TUNEC_ASSIGN(RuleExpr operand, ParseNot());
    operands.push_back(std::move(operand));
  } while (AtKeyword(lexer_, "and") && lexer_.TryTake("and"));
  return Combine(RuleExpr::Kind::kAnd, std::move(operands));
}

Result<RuleExpr> RuleExprParser::ParseNot() {
  TUNEC_RETURN_IF_ERROR(CountPart());
  if (!lexer_.TryTake("not")) return ParseComparison();
  TUNEC_ASSIGN(RuleExpr operand, ParseNot());
  RuleExpr expr{.kind = RuleExpr::Kind::kNot};
  expr.operands.push_back(std::move(operand));
  return expr;
}

// Parses a sum, or a comparison of sums. a < b < c means a < b and b < c.
Result<RuleExpr> RuleExprParser::ParseComparison() {
  constexpr std::array<std::string_view, 6> kSigns = {"==", "!=", "<=", ">=", "<", ">"};
  TUNEC_ASSIGN(RuleExpr left, ParseSum());
  std::vector<RuleExpr> comparisons;
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view sign : kSigns) {
      if (!TakeSign(sign)) continue;
      TUNEC_ASSIGN(RuleExpr right, ParseSum());
      comparisons.push_back(Call(FindRuleFunction(sign), {std::move(left), right}));
      left = std::move(right);
      more = true;
      break;
    }
  }
  if (comparisons.empty()) return left;
  return Combine(RuleExpr::Kind::kAnd, std::move(comparisons));
}

Result<RuleExpr> RuleExprParser::ParseSum() {
  TUNEC_ASSIGN(RuleExpr left, ParseProduct());
  while (true) {
    const std::string_view sign = TakeSign("+") ? "+" : TakeSign("-") ? "-" : "";
    if (sign.empty()) return left;
    TUNEC_ASSIGN(RuleExpr right, ParseProduct());
    left = Call(FindRuleFunction(sign), {std::move(left), std::move(right)});
  }
}

Result<RuleExpr> RuleExprParser::ParseProduct() {
  TUNEC_ASSIGN(RuleExpr left, ParseSigned());
  while (true) {
    const std::string_view sign = TakeSign("*") ? "*" : TakeSign("/") ? "/" : "";
    if (sign.empty()) return left;
    TUNEC_ASSIGN(RuleExpr right, ParseSigned());
    left = Call(FindRuleFunction(sign), {std::move(left), std::move(right)});
  }
}

Status RuleExprParser::CountPart() {
  if (++parts_ <= kMostRuleParts) return {};
  return FailAt(lexer_.Here(), ErrorCode::kParse, "an expression of more than {} parts",
                kMostRuleParts);
}

Result<RuleExpr> RuleExprParser::ParseSigned() {
  TUNEC_RETURN_IF_ERROR(CountPart());
  const TokenKind after = lexer_.Peek(1).kind;
  const bool number =
      after == TokenKind::kInteger || after == TokenKind::kFloat || lexer_.Peek(1).text == "inf";
  if (!lexer_.At("-") || number) return ParseIndexed();
  lexer_.Next();
  TUNEC_ASSIGN(RuleExpr operand, ParseSigned());
  return Call(FindRuleFunction("-"), {Literal(int64_t{0}), std::move(operand)});
}

Result<RuleExpr> RuleExprParser::ParseIndexed() {
  TUNEC_ASSIGN(RuleExpr expr, ParsePrimary());
  while (lexer_.At("[") && !lexer_.Peek().starts_line && !lexer_.Peek().follows_space) {
    lexer_.Next();
    ++depth_;
    TUNEC_ASSIGN(RuleExpr index, Parse());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("]"));
    --depth_;
    expr = Call(FindRuleFunction("[]"), {std::move(expr), std::move(index)});
  }
  return expr;
}

Result<RuleExpr> RuleExprParser::ParsePrimary() {
  constexpr std::string_view kExpected = "a number, a list, a string, a variable or a function";
  const SourceLocation where = lexer_.Here();
  const Token& token = lexer_.Peek(lexer_.At("-") ? 1 : 0);
  if (token.kind == TokenKind::kInteger) {
    TUNEC_ASSIGN(const int64_t value, lexer_.ExpectInteger(kExpected));
    return Literal(value);
  }
  if (token.kind == TokenKind::kFloat || token.text == "inf") {
    TUNEC_ASSIGN(const double value, lexer_.ExpectNumber(kExpected));
    return Literal(value);
  }
  if (token.kind == TokenKind::kString) return Literal(lexer_.Next().value);
  if (lexer_.At("(") || lexer_.At("[")) {
    const bool list = lexer_.Next().text == "[";
    ++depth_;
    std::vector<RuleExpr> elements;
    while (!(list && lexer_.At("]"))) {
      TUNEC_ASSIGN(RuleExpr element, Parse());
      elements.push_back(std::move(element));
      if (!list || !lexer_.TryTake(",")) break;
    }
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(list ? "]" : ")"));
    --depth_;
    if (!list) return std::move(elements[0]);
    RuleExpr expr{.kind = RuleExpr::Kind::kList};
    expr.operands = std::move(elements);
    return expr;
  }
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectIdentifier(kExpected));
  if (lexer_.At("(")) return ParseCall(name, where);
  return ParseName(name, where);
}

Result<RuleExpr> RuleExprParser::ParseCall(const std::string& name, const SourceLocation& where) {
  const RuleFunction* function = FindRuleFunction(name);
  if (function == nullptr) return FailAt(where, ErrorCode::kParse, "unknown function {}", name);
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  ++depth_;
  std::vector<RuleExpr> operands;
  for (const char parameter : function->parameters) {
    if (!operands.empty()) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
    TUNEC_ASSIGN(RuleExpr operand, ParseArgument(parameter));
    operands.push_back(std::move(operand));
  }
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
  --depth_;
  return Call(function, std::move(operands));
}

Result<RuleExpr> RuleExprParser::ParseArgument(char parameter) {
  if (parameter != 'v') return Parse();
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectIdentifier("a value of the pattern"));
  TUNEC_ASSIGN(const int variable, scope_.Use(name, where));
  if (scope_.KindOf(variable) != VariableKind::kValue)
    return FailAt(where, ErrorCode::kParse, "{} is not a value of the graph", name);
  RuleExpr expr{.kind = RuleExpr::Kind::kVariable};
  expr.variable = variable;
  return expr;
}

Result<RuleExpr> RuleExprParser::ParseName(const std::string& name, const SourceLocation& where) {
  if (const RuleFunction* function = FindRuleFunction(name);
      function != nullptr && function->parameters.empty())
    return Call(function, {});
  const size_t dot = name.find('.');
  TUNEC_ASSIGN(const int variable, scope_.Use(name.substr(0, dot), where));
  const bool is_value = scope_.KindOf(variable) == VariableKind::kValue;
  if (is_value && dot == std::string::npos)
    return FailAt(where, ErrorCode::kParse, "{0} is a value of the graph; its number is value({0})",
                  name);
  if (!is_value && dot != std::string::npos)
    return FailAt(where, ErrorCode::kParse, "{} is not a value of the graph and has no attributes",
                  name.substr(0, dot));
  RuleExpr expr{.kind = is_value ? RuleExpr::Kind::kNodeAttribute : RuleExpr::Kind::kVariable};
  expr.variable = variable;
  if (is_value) expr.attribute = name.substr(dot + 1);
  return expr;
}

}  // namespace tunec
