// A solver for equations between index expressions. The solver expresses some variables by others.
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
/// Three rules are applied until nothing changes or a limit of steps is reached.
/// 1. A variable with coefficient 1 or -1 is replaced by the rest of its equation.
/// 2. In 2*a + b == 0 with -2 < b < 2, both a and b are 0.
/// 3. A floor division with coefficient 1 or -1 is eliminated from the other equations.
/// For example, floor(p/56) == floor(q/56) and p mod 56 == q mod 56 give p == q.
///
/// Expressions with large numbers, many terms or many divisions are ignored: arithmetic might
/// overflow, or bounds would take long.
class IndexEquations {
 public:
  explicit IndexEquations(IntervalOf intervals) : intervals_(std::move(intervals)) {}

  /// Adds the equation left == right. Equations with loaded values are ignored.
  void Add(const IndexExpr& left, const IndexExpr& right);

  /// Returns true only if the equations have no solution.
  bool AreContradictory() const { return contradictory_; }

  /// Returns an expression without the replaced variables that equals `expression` for every
  /// solution. Returns nothing if `expression` or the result is not small (IsSmall).
  std::optional<IndexExpr> Replace(const IndexExpr& expression) const;

 private:
  // An equation expression == 0. `division` has the coefficient 1 or -1 and is no term of another
  // stored equation. `division` is empty if no division has such a coefficient.
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
