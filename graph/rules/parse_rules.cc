#include "graph/rules/parse_rules.h"

#include "graph/ops/op_table.h"
#include "graph/ops/unknown_op.h"
#include "graph/rules/rule_terms.h"
#include "support/file.h"

namespace tunec {
namespace {

// A name that stands for operators in a rule, such as f in `for f in (relu, abs)`. The rule is
// parsed once per combination of operators.
struct OperatorChoice {
  std::string name;
  std::vector<Op> operators;
};

// Returns the elementwise operators of kind kCompute with the given number of operands.
std::vector<Op> ElementwiseOperators(int operands) {
  std::vector<Op> found;
  for (const Op op : kAllOps) {
    const OpSpec& spec = SpecOf(op);
    if (KindOf(op) == OpKind::kCompute && PatternOf(op) == OpPattern::kElementwise &&
        spec.min_inputs == operands && spec.max_inputs == operands)
      found.push_back(op);
  }
  return found;
}

class RuleFileParser {
 public:
  explicit RuleFileParser(Lexer& lexer) : lexer_(lexer) {}

  Result<std::vector<Rule>> Parse() {
    while (!lexer_.IsAtEnd()) {
      if (!lexer_.Peek().starts_line) return lexer_.Expected("the end of the rule");
      TUNEC_RETURN_IF_ERROR(ParseRule());
    }
    return std::move(rules_);
  }

 private:
  Status ParseRule() {
    Rule header;
    header.where = lexer_.Here();
    header.name = fmt::format("line {}", header.where.line);
    std::vector<OperatorChoice> choices;
    TUNEC_RETURN_IF_ERROR(ParseHeader(header, choices));
    const Lexer body = lexer_;
    std::vector<size_t> chosen(choices.size());
    while (true) {
      lexer_ = body;
      OperatorNames operators;
      for (size_t i = 0; i < choices.size(); ++i)
        operators[choices[i].name] = choices[i].operators[chosen[i]];
      Rule rule = header;
      TUNEC_RETURN_IF_ERROR(ParseBody(rule, operators));
      rules_.push_back(std::move(rule));
      size_t digit = 0;
      while (digit < chosen.size() && ++chosen[digit] == choices[digit].operators.size())
        chosen[digit++] = 0;
      if (digit == chosen.size()) return {};
    }
  }

  // Parses a header such as `label [shared] for f in (..), g in (..):`, if the rule has one.
  Status ParseHeader(Rule& rule, std::vector<OperatorChoice>& choices) {
    const Token& after = lexer_.Peek(1);
    const bool labelled = lexer_.Peek().kind == TokenKind::kIdentifier && !lexer_.At("for") &&
                          (after.text == ":" || after.text == "[" || after.text == "for");
    if (!labelled && !lexer_.At("for")) return {};
    if (labelled) rule.name = std::string(lexer_.Next().text);
    if (lexer_.TryTake("[")) {
      if (!lexer_.TryTake("shared")) return lexer_.Expected("'shared'");
      rule.shared = true;
      TUNEC_RETURN_IF_ERROR(lexer_.Expect("]"));
    }
    if (lexer_.TryTake("for")) {
      do {
        TUNEC_ASSIGN(OperatorChoice choice, ParseChoice());
        choices.push_back(std::move(choice));
      } while (lexer_.TryTake(","));
    }
    return lexer_.Expect(":");
  }

  Result<OperatorChoice> ParseChoice() {
    OperatorChoice choice;
    TUNEC_ASSIGN(choice.name, lexer_.ExpectIdentifier("a name for the operators"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("in"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
    do {
      const SourceLocation where = lexer_.Here();
      TUNEC_ASSIGN(const std::string name, lexer_.ExpectIdentifier("an operator"));
      if (name == "unary" || name == "binary") {
        const std::vector<Op> all = ElementwiseOperators(name == "unary" ? 1 : 2);
        choice.operators.insert(choice.operators.end(), all.begin(), all.end());
        continue;
      }
      const std::optional<Op> op = ParseOp(name);
      if (!op) return FailAt(where, ErrorCode::kParse, "{}", NoOperator(name));
      choice.operators.push_back(*op);
    } while (lexer_.TryTake(","));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return choice;
  }

  // Parses `pattern => replacement where condition`. The condition is optional.
  Status ParseBody(Rule& rule, const OperatorNames& operators) {
    RuleScope scope;
    const SourceLocation where = lexer_.Here();
    RuleTermParser pattern(lexer_, scope, operators, TermRole::kPattern);
    TUNEC_ASSIGN(rule.pattern, pattern.Parse());
    TUNEC_RETURN_IF_ERROR(CheckRoot(rule.pattern, where));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("=>"));
    RuleTermParser replacement(lexer_, scope, operators, TermRole::kReplacement);
    TUNEC_ASSIGN(rule.replacement, replacement.Parse());
    if (AtKeyword(lexer_, "where")) {
      lexer_.Next();
      TUNEC_ASSIGN(RuleExpr condition, RuleExprParser(lexer_, scope).Parse());
      rule.conditions.push_back(std::move(condition));
    }
    rule.variables = std::move(scope).Take();
    return {};
  }

  static Status CheckRoot(const RuleTerm& pattern, const SourceLocation& where) {
    const bool node = pattern.kind == RuleTerm::Kind::kNode;
    if (!node && pattern.kind != RuleTerm::Kind::kAlternatives)
      return FailAt(where, ErrorCode::kParse, "the pattern is not an operator");
    if (pattern.variable >= 0)
      return FailAt(where, ErrorCode::kParse, "the pattern's root has the name {} already",
                    kRootName);
    if (node) return {};
    for (const RuleTerm& alternative : pattern.operands)
      TUNEC_RETURN_IF_ERROR(CheckRoot(alternative, where));
    return {};
  }

  Lexer& lexer_;
  std::vector<Rule> rules_;
};

}  // namespace

Result<std::vector<Rule>> ParseRules(std::string_view text, std::string_view file_name) {
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, file_name));
  return RuleFileParser(lexer).Parse();
}

Result<RuleSet> ReadRuleFiles(const std::vector<std::string>& paths) {
  std::vector<Rule> rules;
  for (const std::string& path : paths) {
    TUNEC_ASSIGN(const std::string text, ReadFile(path));
    TUNEC_ASSIGN(std::vector<Rule> more, ParseRules(text, path));
    rules.insert(rules.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  return RuleSet(std::move(rules));
}

}  // namespace tunec
