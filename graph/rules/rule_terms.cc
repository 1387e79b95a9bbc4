#include "graph/rules/rule_terms.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "graph/ops/op_table.h"
#include "graph/ops/unknown_op.h"
#include "graph/rules/rule_functions.h"

namespace tunec {
namespace {

RuleTerm Binary(Op op, RuleTerm left, RuleTerm right) {
  RuleTerm node{.kind = RuleTerm::Kind::kNode, .op = op};
  node.operands.push_back(std::move(left));
  node.operands.push_back(std::move(right));
  return node;
}

bool IsNumber(const Token& token) {
  return token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat ||
         token.text == "inf";
}

// Returns whether a literal of kind `literal` fits an attribute of kind `expected`.
bool Fits(AttributeKind literal, AttributeKind expected) {
  if (literal == AttributeKind::kInt && expected == AttributeKind::kFloat) return true;
  if (literal == AttributeKind::kInts && expected == AttributeKind::kFloats) return true;
  return literal == expected;
}

}  // namespace

bool RuleTermParser::TakeSign(std::string_view sign) {
  if (sign == "-" && lexer_.Peek().starts_line && depth_ == 0) return false;
  return lexer_.TryTake(sign);
}

Result<RuleTerm> RuleTermParser::Parse() {
  TUNEC_ASSIGN(RuleTerm left, ParseProduct());
  while (true) {
    const bool plus = TakeSign("+");
    if (!plus && !TakeSign("-")) return left;
    TUNEC_ASSIGN(RuleTerm right, ParseProduct());
    left = Binary(plus ? Op::kAdd : Op::kSub, std::move(left), std::move(right));
  }
}

Result<RuleTerm> RuleTermParser::ParseProduct() {
  TUNEC_ASSIGN(RuleTerm left, ParsePrimary());
  while (true) {
    const bool times = TakeSign("*");
    if (!times && !TakeSign("/")) return left;
    TUNEC_ASSIGN(RuleTerm right, ParsePrimary());
    left = Binary(times ? Op::kMul : Op::kDiv, std::move(left), std::move(right));
  }
}

Result<RuleTerm> RuleTermParser::ParsePrimary() {
  const SourceLocation where = lexer_.Here();
  if (++parts_ > kMostRuleParts) {
    return FailAt(where, ErrorCode::kParse, "a term of more than {} parts", kMostRuleParts);
  }
  const bool negative = lexer_.At("-");
  if (lexer_.At("~") || IsNumber(lexer_.Peek(negative ? 1 : 0))) return ParseNumber();
  if (lexer_.TryTake("-")) {
    TUNEC_ASSIGN(RuleTerm operand, ParsePrimary());
    RuleTerm node{.kind = RuleTerm::Kind::kNode, .op = Op::kNeg};
    node.operands.push_back(std::move(operand));
    return node;
  }
  if (lexer_.At("(")) return ParseAlternatives();
  TUNEC_ASSIGN(const std::string name,
               lexer_.ExpectIdentifier("an operator, a variable or a number"));
  return ParseNamed(name, where);
}

Result<RuleTerm> RuleTermParser::ParseNumber() {
  RuleTerm term{.kind = RuleTerm::Kind::kNumber};
  const SourceLocation where = lexer_.Here();
  if (lexer_.TryTake("~")) {
    if (!IsPattern())
      return FailAt(where, ErrorCode::kParse, "a replacement needs the number itself, not ~");
    term.kind = RuleTerm::Kind::kNear;
  }
  TUNEC_ASSIGN(const double number, lexer_.ExpectNumber("a number"));
  term.number.literal = number;
  return term;
}

// Parses ( a | b ), or in a replacement ( a ). Each alternative starts with the variables that were
// bound before the parentheses. Variables that all alternatives bind are bound after them.
Result<RuleTerm> RuleTermParser::ParseAlternatives() {
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  ++depth_;
  RuleTerm term{.kind = RuleTerm::Kind::kAlternatives};
  const std::set<int> before = scope_.bound();
  std::set<int> all;
  do {
    scope_.SetBound(before);
    TUNEC_ASSIGN(RuleTerm alternative, Parse());
    std::set<int> both;
    std::ranges::set_intersection(all, scope_.bound(), std::inserter(both, both.end()));
    if (term.operands.empty()) {
      all = scope_.bound();
    } else {
      all = std::move(both);
    }
    term.operands.push_back(std::move(alternative));
  } while (IsPattern() && lexer_.TryTake("|"));
  scope_.SetBound(std::move(all));
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
  --depth_;
  if (term.operands.size() == 1) return std::move(term.operands[0]);
  return term;
}

Result<RuleTerm> RuleTermParser::ParseNamed(const std::string& name, const SourceLocation& where) {
  if (lexer_.At("@")) {
    if (!IsPattern())
      return FailAt(where, ErrorCode::kParse, "a replacement cannot name its parts with @");
    lexer_.Next();
    TUNEC_ASSIGN(const int variable, scope_.Bind(name, VariableKind::kValue, where));
    TUNEC_ASSIGN(RuleTerm term, ParsePrimary());
    const bool choice = term.kind == RuleTerm::Kind::kAlternatives;
    for (RuleTerm& part : choice ? std::span(term.operands) : std::span(&term, 1)) {
      if (part.variable >= 0 || part.kind == RuleTerm::Kind::kAlternatives)
        return FailAt(where, ErrorCode::kParse, "{} is a second name for one value", name);
      part.variable = variable;
    }
    return term;
  }
  if (lexer_.At("(")) {
    if (!IsPattern() && name == "number") {
      lexer_.Next();
      RuleTerm term{.kind = RuleTerm::Kind::kNumber};
      TUNEC_ASSIGN(term.number, RuleExprParser(lexer_, scope_).Parse());
      TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
      return term;
    }
    if (const auto found = operators_.find(name); found != operators_.end())
      return ParseCall(found->second, where);
    const std::optional<Op> op = ParseOp(name);
    const bool usable = op && *op != Op::kInput && *op != Op::kConstant &&
                        KindOf(*op) != OpKind::kControl && KindOf(*op) != OpKind::kMemory;
    if (!usable) return FailAt(where, ErrorCode::kParse, "{}", NoOperator(name, " for a rule"));
    return ParseCall(*op, where);
  }
  RuleTerm term{.kind = RuleTerm::Kind::kVariable};
  if (IsPattern()) {
    TUNEC_ASSIGN(term.variable, scope_.Bind(name, VariableKind::kValue, where));
    return term;
  }
  TUNEC_ASSIGN(term.variable, scope_.Use(name, where));
  if (term.variable == kRootVariable)
    return FailAt(where, ErrorCode::kParse, "{} is the replaced value and cannot be an operand",
                  kRootName);
  if (scope_.KindOf(term.variable) != VariableKind::kValue)
    return FailAt(where, ErrorCode::kParse, "{} is not a value of the graph", name);
  return term;
}

Result<RuleTerm> RuleTermParser::ParseCall(Op op, const SourceLocation& where) {
  RuleTerm node{.kind = RuleTerm::Kind::kNode, .op = op};
  ++depth_;
  TUNEC_RETURN_IF_ERROR(ParseOperands(node));
  TUNEC_RETURN_IF_ERROR(ParseAttributes(node));
  --depth_;
  TUNEC_RETURN_IF_ERROR(CheckNode(node, where));
  return node;
}

Status RuleTermParser::ParseOperands(RuleTerm& node) {
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  for (bool first = true; !lexer_.TryTake(")"); first = false) {
    if (!first) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
    if (lexer_.TryTake("_")) {
      node.operands.push_back({.kind = RuleTerm::Kind::kOmitted});
      continue;
    }
    if (!lexer_.TryTake("..")) {
      TUNEC_ASSIGN(RuleTerm operand, Parse());
      node.operands.push_back(std::move(operand));
      continue;
    }
    const SourceLocation where = lexer_.Here();
    TUNEC_ASSIGN(const std::string name, lexer_.ExpectIdentifier("a name for the other operands"));
    RuleTerm rest{.kind = RuleTerm::Kind::kRest};
    if (IsPattern()) {
      TUNEC_ASSIGN(rest.variable, scope_.Bind(name, VariableKind::kRest, where));
    } else {
      TUNEC_ASSIGN(rest.variable, scope_.Use(name, where));
    }
    if (scope_.KindOf(rest.variable) != VariableKind::kRest)
      return FailAt(where, ErrorCode::kParse, "{} is not a list of operands", name);
    node.operands.push_back(std::move(rest));
    if (!lexer_.At(")")) return lexer_.Expected("')' after the other operands");
  }
  return {};
}

Status RuleTermParser::ParseAttributes(RuleTerm& node) {
  if (lexer_.Peek().starts_line || !lexer_.TryTake("{")) return {};
  for (bool first = true; !lexer_.TryTake("}"); first = false) {
    if (!first) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
    TUNEC_RETURN_IF_ERROR(ParseAttribute(node));
  }
  return {};
}

Status RuleTermParser::ParseAttribute(RuleTerm& node) {
  const SourceLocation where = lexer_.Here();
  RuleAttribute attribute;
  if (!IsPattern() && lexer_.TryTake("*")) {
    TUNEC_ASSIGN(const std::string name, lexer_.ExpectIdentifier("a node of the pattern"));
    attribute.kind = RuleAttribute::Kind::kCopy;
    TUNEC_ASSIGN(attribute.variable, scope_.Use(name, where));
    if (scope_.KindOf(attribute.variable) != VariableKind::kValue)
      return FailAt(where, ErrorCode::kParse, "{} is not a node of the pattern", name);
    node.attributes.push_back(std::move(attribute));
    return {};
  }
  TUNEC_ASSIGN(attribute.name, lexer_.ExpectIdentifier("an attribute's name"));
  if (FindAttribute(node.op, attribute.name) == nullptr)
    return FailAt(where, ErrorCode::kParse, "{} has no attribute {}", Name(node.op),
                  attribute.name);
  for (const RuleAttribute& other : node.attributes)
    if (other.name == attribute.name)
      return FailAt(where, ErrorCode::kParse, "attribute {} is given twice", attribute.name);
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("="));
  TUNEC_RETURN_IF_ERROR(ParseAttributeValue(node.op, attribute));
  node.attributes.push_back(std::move(attribute));
  return {};
}

Status RuleTermParser::ParseAttributeValue(Op op, RuleAttribute& attribute) {
  const SourceLocation where = lexer_.Here();
  if (IsPattern() && lexer_.TryTake("~")) {
    attribute.kind = RuleAttribute::Kind::kNear;
    TUNEC_ASSIGN(const double number, lexer_.ExpectNumber("a number"));
    attribute.expr.literal = number;
  } else if (IsPattern() && lexer_.Peek().kind == TokenKind::kIdentifier &&
             (lexer_.Peek(1).text == "," || lexer_.Peek(1).text == "}") &&
             lexer_.Peek().text != "inf" && !lexer_.Peek().text.contains('.')) {
    attribute.kind = RuleAttribute::Kind::kBind;
    TUNEC_ASSIGN(attribute.variable,
                 scope_.Bind(std::string(lexer_.Next().text), VariableKind::kAttribute, where));
    return {};
  } else {
    TUNEC_ASSIGN(attribute.expr, RuleExprParser(lexer_, scope_).Parse());
  }
  const AttributeKind expected = FindAttribute(op, attribute.name)->kind;
  const RuleExpr& expr = attribute.expr;
  std::optional<AttributeKind> given;
  if (expr.kind == RuleExpr::Kind::kLiteral) given = KindOf(expr.literal);
  if (expr.kind == RuleExpr::Kind::kList) given = AttributeKind::kInts;
  if (given && !Fits(*given, expected))
    return FailAt(where, ErrorCode::kParse, "{} attribute {} is {}, expected {}", Name(op),
                  attribute.name, Name(*given), Name(expected));
  return {};
}

Status RuleTermParser::CheckNode(const RuleTerm& node, const SourceLocation& where) const {
  const OpSpec& spec = SpecOf(node.op);
  const auto count = static_cast<int>(node.operands.size());
  const bool rest = count > 0 && node.operands.back().kind == RuleTerm::Kind::kRest;
  const bool chain = IsAssociative(node.op) && count > 2 && !rest;
  const bool enough = rest || count >= spec.min_inputs;
  if (!enough || (!chain && count - (rest ? 1 : 0) > spec.max_inputs))
    return FailAt(where, ErrorCode::kParse, "{} is given {} operands, expected {}", Name(node.op),
                  count,
                  spec.min_inputs == spec.max_inputs ? fmt::format("{}", spec.min_inputs)
                                                     : fmt::format("at least {}", spec.min_inputs));
  if (IsPattern()) return {};
  for (const AttributeSpec& attribute : spec.attributes) {
    const bool given = std::ranges::any_of(node.attributes, [&](const RuleAttribute& a) {
      return a.kind == RuleAttribute::Kind::kCopy || a.name == attribute.name;
    });
    if (attribute.absence == Absence::kError && !given)
      return FailAt(where, ErrorCode::kParse, "{} needs the attribute {}", Name(node.op),
                    attribute.name);
  }
  return {};
}

}  // namespace tunec
