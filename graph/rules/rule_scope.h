// The variables of the rule that is being parsed.
#pragma once

#include <set>

#include "graph/rules/rule.h"
#include "support/lexer.h"

namespace tunec {

class RuleScope {
 public:
  /// Makes a scope with the variable `out`.
  RuleScope();

  /// Returns the variable of this name and kind, and creates it if necessary. Errors: the name has
  /// another kind or is reserved.
  Result<int> Bind(const std::string& name, VariableKind kind, const SourceLocation& where);
  /// Returns a variable that is bound whenever the pattern matches.
  Result<int> Use(const std::string& name, const SourceLocation& where) const;
  VariableKind KindOf(int variable) const { return variables_[variable].kind; }

  /// Returns the bound variables. Each alternative starts with the variables bound before it. After
  /// the alternatives, a variable is bound if all alternatives bind it.
  const std::set<int>& bound() const { return bound_; }
  void SetBound(std::set<int> bound) { bound_ = std::move(bound); }

  std::vector<RuleVariable> Take() && { return std::move(variables_); }

 private:
  std::vector<RuleVariable> variables_;
  std::set<int> bound_;
};

/// The parser of conditions and attributes.
class RuleExprParser {
 public:
  RuleExprParser(Lexer& lexer, const RuleScope& scope) : lexer_(lexer), scope_(scope) {}
  Result<RuleExpr> Parse();

 private:
  Result<RuleExpr> ParseAnd();
  Result<RuleExpr> ParseNot();
  Result<RuleExpr> ParseComparison();
  Result<RuleExpr> ParseSum();
  Result<RuleExpr> ParseProduct();
  Result<RuleExpr> ParseSigned();
  Result<RuleExpr> ParseIndexed();
  Result<RuleExpr> ParsePrimary();
  Result<RuleExpr> ParseCall(const std::string& name, const SourceLocation& where);
  Result<RuleExpr> ParseName(const std::string& name, const SourceLocation& where);
  Result<RuleExpr> ParseArgument(char parameter);
  bool TakeSign(std::string_view sign);
  Status CountPart();

  Lexer& lexer_;
  const RuleScope& scope_;
  int depth_ = 0;  // nesting of brackets: inside them an expression continues over lines
  int parts_ = 0;  // parts of the expression so far
};

/// Most parts of one term or condition. It is a tree, and trees are processed recursively.
inline constexpr int kMostRuleParts = 200;

/// Returns whether the lexer is at a keyword, not at an operator of the same name at the beginning
/// of a rule: and(x, y) => ..
bool AtKeyword(const Lexer& lexer, std::string_view word);

}  // namespace tunec
