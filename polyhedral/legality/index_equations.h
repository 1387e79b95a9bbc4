// Solver for equations between index expressions, which finds the variables that the equations
// determine.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/expr/index_expr.h"

namespace tunec {

/// Conclusions from equations over variables with known intervals. All conclusions are true for
/// every solution, but not all true conclusions are found.
///
/// Three rules are applied until nothing changes.
/// 1. A variable with coefficient 1 or -1 is replaced by the rest of its equation.
/// 2. In 2*a + b == 0 with -2 < b < 2, both a and b are 0.
/// 3. A floor division with coefficient 1 or -1 is eliminated from the other equations.
/// For example, floor(p/56) == floor(q/56) and p mod 56 == q mod 56 give p == q.
///
/// Expressions with large numbers or many divisions are ignored: their sums might overflow, and
/// their bounds would take long.
class IndexEquations {
 public:
  explicit IndexEquations(IntervalOf intervals) : intervals_(std::move(intervals)) {}

  /// Adds the equation left == right. Equations with loaded values are ignored.
  void Add(const IndexExpr& left, const IndexExpr& right);

  /// Returns true only if the equations have no solution.
  bool AreContradictory() const { return contradictory_; }

  /// Returns an expression that has the same value for every solution, without the replaced
  /// variables. Returns nothing if the expression or the result is ignored.
  std::optional<IndexExpr> Replace(const IndexExpr& expression) const;

 private:
  // An equation expression == 0. `division` has the coefficient 1 or -1 and occurs in no other
  // stored equation. It is empty if there is no such division.
  struct Stored {
    IndexExpr expression;
    std::optional<IndexAtom> division;
  };

  bool IsSmall(const IndexExpr& expression) const;
  void Process(const IndexExpr& expression);
  std::optional<IndexExpr> WithoutDivisions(IndexExpr expression) const;
  bool SplitByFactor(const IndexExpr& expression);
  bool ReplaceVariable(const IndexExpr& expression);
  void Store(const IndexExpr& expression);

  IntervalOf intervals_;
  std::vector<IndexExpr> open_;  // expressions that are 0, not processed yet
  std::vector<Stored> stored_;
  std::map<VarId, IndexExpr> values_;  // small; no replaced variable occurs in a value
  bool contradictory_ = false;
};

}  // namespace tunec
