// The parser of patterns and replacements.
#pragma once

#include <map>
#include <string>

#include "graph/rules/rule_scope.h"

namespace tunec {

enum class TermRole : uint8_t { kPattern, kReplacement };

/// The operators that the names of a rule's header stand for, such as f in `for f in (relu, abs)`.
/// Each name stands for one operator, because the rule is parsed once per combination of operators.
using OperatorNames = std::map<std::string, Op, std::less<>>;

class RuleTermParser {
 public:
  RuleTermParser(Lexer& lexer, RuleScope& scope, const OperatorNames& operators, TermRole role)
      : lexer_(lexer), scope_(scope), operators_(operators), role_(role) {}

  /// Parses a term, such as a sum of products of calls, variables and numbers.
  Result<RuleTerm> Parse();

 private:
  Result<RuleTerm> ParseProduct();
  Result<RuleTerm> ParsePrimary();
  Result<RuleTerm> ParseNumber();
  Result<RuleTerm> ParseAlternatives();
  Result<RuleTerm> ParseNamed(const std::string& name, const SourceLocation& where);
  Result<RuleTerm> ParseCall(Op op, const SourceLocation& where);
  Status ParseOperands(RuleTerm& node);
  Status ParseAttributes(RuleTerm& node);
  Status ParseAttribute(RuleTerm& node);
  Status ParseAttributeValue(Op op, RuleAttribute& attribute);
  Status CheckNode(const RuleTerm& node, const SourceLocation& where) const;
  bool IsPattern() const { return role_ == TermRole::kPattern; }
  bool TakeSign(std::string_view sign);

  Lexer& lexer_;
  RuleScope& scope_;
  const OperatorNames& operators_;
  TermRole role_;
  int depth_ = 0;  // depth of brackets
  int parts_ = 0;  // number of parts of the term so far
};

}  // namespace tunec
