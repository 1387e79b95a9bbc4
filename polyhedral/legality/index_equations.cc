#include "polyhedral/legality/index_equations.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

namespace tunec {
namespace {

// The size of an expression, for the limits of IsSmall. Computing it in int64_t could overflow.
struct Size {
  double magnitude = 0;    // bound of the absolute value
  double coefficient = 0;  // largest coefficient or constant, also inside divisions
  double divisor = 1;      // largest product of divisors that are inside each other
  size_t terms = 0;        // largest number of terms of a sum
  size_t divisions = 0;
};

Size SizeOf(const IndexExpr& expression, const IntervalOf& intervals) {
  const auto absolute = [](int64_t number) { return std::abs(static_cast<double>(number)); };
  Size size{.magnitude = absolute(expression.constant()),
            .coefficient = absolute(expression.constant()),
            .terms = expression.terms().size()};
  for (const auto& [coefficient, atom] : expression.terms()) {
    size.coefficient = std::max(size.coefficient, absolute(coefficient));
    if (atom.kind != IndexAtom::Kind::kFloorDiv) {
      const Interval values = intervals(atom.variable());
      size.magnitude += absolute(coefficient) * std::max(absolute(values.lo), absolute(values.hi));
      continue;
    }
    const Size inner = SizeOf(*atom.numerator, intervals);
    const double divisor = absolute(atom.divisor);
    size.magnitude += absolute(coefficient) * (inner.magnitude / divisor + 1);
    size.coefficient = std::max(size.coefficient, inner.coefficient);
    size.divisor = std::max(size.divisor, divisor * inner.divisor);
    size.terms = std::max(size.terms, inner.terms);
    size.divisions += inner.divisions + 1;
  }
  return size;
}

bool IsUnit(int64_t coefficient) { return coefficient == 1 || coefficient == -1; }

int64_t CoefficientOf(const IndexExpr& expression, const IndexAtom& atom) {
  const auto found = std::ranges::find(expression.terms(), atom, &IndexTerm::atom);
  return found == expression.terms().end() ? 0 : found->coefficient;
}

IndexExpr ValueOf(const IndexAtom& atom) {
  if (atom.kind == IndexAtom::Kind::kVariable) return IndexExpr::Var(atom.variable());
  return IndexExpr::FloorDiv(*atom.numerator, atom.divisor);
}

}  // namespace

void IndexEquations::Add(const IndexExpr& left, const IndexExpr& right) {
  // The limit on steps ensures that the loop below ends.
  constexpr int kMostSteps = 200;
  if (left.UsesLoaded() || right.UsesLoaded()) return;
  open_.push_back(left - right);
  for (int step = 0; step < kMostSteps && !open_.empty(); ++step) {
    const IndexExpr next = std::move(open_.back());
    open_.pop_back();
    Process(next);
  }
  open_.clear();
}

// Returns true only if arithmetic with the expression cannot overflow. The replacement of all
// variables multiplies numbers of two small expressions, and adds at most kMostTerms products.
bool IndexEquations::IsSmall(const IndexExpr& expression) const {
  constexpr double kMostMagnitude = 0x1p50;
  constexpr double kMostNumber = 0x1p28;
  constexpr size_t kMostTerms = 16;
  constexpr size_t kMostDivisions = 6;  // the time of BoundsOf grows exponentially with divisions
  if (expression.UsesLoaded()) return false;
  const Size size = SizeOf(expression, intervals_);
  return size.magnitude < kMostMagnitude && size.coefficient < kMostNumber &&
         size.divisor < kMostNumber && size.terms <= kMostTerms && size.divisions <= kMostDivisions;
}

std::optional<IndexExpr> IndexEquations::Replace(const IndexExpr& expression) const {
  if (!IsSmall(expression)) return std::nullopt;
  IndexExpr result = Substitute(expression, [&](VarId v) {
    const auto found = values_.find(v);
    return found == values_.end() ? IndexExpr::Var(v) : found->second;
  });
  if (!IsSmall(result)) return std::nullopt;
  return Simplify(result, intervals_);
}

void IndexEquations::Process(const IndexExpr& expression) {
  const std::optional<IndexExpr> replaced = Replace(expression);
  if (!replaced) return;
  const std::optional<IndexExpr> reduced = WithoutDivisions(*replaced);
  if (!reduced) return;
  const Interval bounds = BoundsOf(*reduced, intervals_);
  contradictory_ |= bounds.lo > 0 || bounds.hi < 0;
  if (reduced->IsConstant()) return;
  if (SplitByFactor(*reduced) || ReplaceVariable(*reduced)) return;
  Store(*reduced);
}

// Returns the expression with the terms of stored divisions eliminated. Returns nothing if the
// expression is not small after one of the eliminations.
std::optional<IndexExpr> IndexEquations::WithoutDivisions(IndexExpr expression) const {
  for (const Stored& stored : stored_) {
    if (!stored.division) continue;
    const int64_t factor = CoefficientOf(expression, *stored.division) *
                           CoefficientOf(stored.expression, *stored.division);
    if (factor == 0) continue;
    expression -= stored.expression * factor;
    if (!IsSmall(expression)) return std::nullopt;
  }
  return expression;
}

// Applies rule 2: if -factor < rest < factor, then factor*quotient + rest is 0 only if the quotient
// and the rest are 0. Returns whether the rule applies.
bool IndexEquations::SplitByFactor(const IndexExpr& expression) {
  for (const IndexTerm& term : expression.terms()) {
    const int64_t factor = std::abs(term.coefficient);
    if (factor == 1) continue;
    IndexExpr quotient(FloorDivide(expression.constant(), factor));
    IndexExpr rest(FloorModulo(expression.constant(), factor));
    for (const auto& [coefficient, atom] : expression.terms()) {
      if (coefficient % factor == 0)
        quotient += ValueOf(atom) * (coefficient / factor);
      else
        rest += ValueOf(atom) * coefficient;
    }
    for (int64_t moved = 0; moved < 2; ++moved) {
      const Interval bounds = BoundsOf(rest, intervals_);
      if (bounds.lo > -factor && bounds.hi < factor) {
        open_.push_back(std::move(quotient));
        open_.push_back(std::move(rest));
        return true;
      }
      quotient += 1;
      rest -= factor;
    }
  }
  return false;
}

// Applies rule 1 to the variable whose value can exceed the variable's own bounds least, because
// the replacement loses these bounds.
bool IndexEquations::ReplaceVariable(const IndexExpr& expression) {
  std::optional<VarId> best;
  IndexExpr best_value;
  int64_t least_lost = 0;
  for (const auto& [coefficient, atom] : expression.terms()) {
    if (atom.kind != IndexAtom::Kind::kVariable || !IsUnit(coefficient)) continue;
    const IndexExpr value = IndexExpr::Var(atom.variable()) - expression * coefficient;
    if (value.Uses(atom.variable())) continue;
    const Interval own = intervals_(atom.variable());
    const Interval bounds = BoundsOf(value, intervals_);
    const int64_t lost =
        std::max<int64_t>(own.lo - bounds.lo, 0) + std::max<int64_t>(bounds.hi - own.hi, 0);
    if (best && lost >= least_lost) continue;
    best = atom.variable();
    best_value = value;
    least_lost = lost;
  }
  if (!best || !IsSmall(best_value)) return false;
  std::map<VarId, IndexExpr> earlier = std::exchange(values_, {{*best, best_value}});
  std::map<VarId, IndexExpr> values = values_;
  for (const auto& [variable, value] : earlier) {
    const std::optional<IndexExpr> replaced = Replace(value);
    if (!replaced) {
      values_ = std::move(earlier);
      return false;
    }
    values.emplace(variable, *replaced);
  }
  values_ = std::move(values);
  for (Stored& stored : stored_) open_.push_back(std::move(stored.expression));
  stored_.clear();
  return true;
}

// Stores the equation. Applies rule 3 if a floor division has the coefficient 1 or -1.
void IndexEquations::Store(const IndexExpr& expression) {
  const auto unit = std::ranges::find_if(expression.terms(), [](const IndexTerm& term) {
    return term.atom.kind == IndexAtom::Kind::kFloorDiv && IsUnit(term.coefficient);
  });
  Stored added{expression, {}};
  if (unit != expression.terms().end()) added.division = unit->atom;
  std::erase_if(stored_, [&](Stored& other) {
    if (!added.division || CoefficientOf(other.expression, *added.division) == 0) return false;
    open_.push_back(std::move(other.expression));
    return true;
  });
  stored_.push_back(std::move(added));
}

}  // namespace tunec
