// The variables of the rule that is being parsed, and the parser of the rule's expressions.
#pragma once

#include <set>

#include "graph/rules/rule.h"
#include "support/lexer.h"

namespace tunec {

class RuleScope {
 public:
  /// Creates a scope with the variable `out`.
  RuleScope();

  /// Binds and returns the variable with this name and kind, and creates it if necessary. Fails if
  /// a variable of a different kind has the name, or if the name is `out`.
  Result<int> Bind(const std::string& name, VariableKind kind, const SourceLocation& where);
  /// Returns the bound variable with this name. Fails if there is none.
  Result<int> Use(const std::string& name, const SourceLocation& where) const;
  VariableKind KindOf(int variable) const { return variables_[variable].kind; }

  /// Returns the bound variables. Each alternative of a pattern starts with the variables bound
  /// before the first one. The variables bound at the end of every alternative remain bound.
  const std::set<int>& bound() const { return bound_; }
  void SetBound(std::set<int> bound) { bound_ = std::move(bound); }

  std::vector<RuleVariable> Take() && { return std::move(variables_); }

 private:
  std::vector<RuleVariable> variables_;
  std::set<int> bound_;
};

/// A parser of one expression of a rule: a condition, an attribute or a number.
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
  int depth_ = 0;  // depth of brackets; within brackets an expression may continue on the next line
  int parts_ = 0;  // number of parts of the expression so far
};

/// The largest number of parts of a pattern, a replacement or an expression. The number limits the
/// depth of recursion in functions that walk the tree of parts.
inline constexpr int kMostRuleParts = 200;

/// Returns whether the lexer is at the keyword `word`. Returns false if the word starts a line and
/// `(` follows without a space. The word can then be an operator, as in and(x, y) => ..
bool AtKeyword(const Lexer& lexer, std::string_view word);

}  // namespace tunec
