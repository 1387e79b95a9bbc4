// The variables of the rule that is being parsed.
#pragma once

#include <set>

#include "graph/rules/rule.h"
#include "support/lexer.h"

namespace tunec {

class RuleScope {
 public:
  /// `out` is there from the beginning.
  RuleScope();

  /// The variable of this name and kind, made if there is none. Errors: the name is of another
  /// kind, or reserved.
  Result<int> Bind(const std::string& name, VariableKind kind, const SourceLocation& where);
  /// A variable that is bound wherever the pattern matches.
  Result<int> Use(const std::string& name, const SourceLocation& where) const;
  VariableKind KindOf(int variable) const { return variables_[variable].kind; }

  /// Of alternatives: each begins with what is bound before; afterwards what all of them bind is.
  const std::set<int>& bound() const { return bound_; }
  void SetBound(std::set<int> bound) { bound_ = std::move(bound); }

  std::vector<RuleVariable> Take() && { return std::move(variables_); }

 private:
  std::vector<RuleVariable> variables_;
  std::set<int> bound_;
};

/// Conditions and attributes.
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
  int depth_ = 0;  // of brackets: within them an expression goes on over lines
  int parts_ = 0;  // of the expression so far
};

/// What one term or condition may consist of: it is a tree, and trees are walked by recursion.
inline constexpr int kMostRuleParts = 200;

/// A keyword, and not an operator of the same name at the beginning of a rule: and(x, y) => ..
bool AtKeyword(const Lexer& lexer, std::string_view word);

}  // namespace tunec
