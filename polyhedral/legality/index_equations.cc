#include "polyhedral/legality/index_equations.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace tunec {
namespace {

// Returns whether products of two such expressions' coefficients do not overflow.
bool IsSmall(const IndexExpr& expression) {
  constexpr int64_t kMost = int64_t{1} << 29;
  const auto is_small = [](int64_t number) { return -kMost < number && number < kMost; };
  return is_small(expression.constant()) &&
         std::ranges::all_of(expression.terms(), is_small, &IndexTerm::coefficient);
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
  // More steps than any real statement needs. The limit makes an endless loop impossible.
  constexpr int kMostSteps = 200;
  if (left.UsesLoaded() || right.UsesLoaded()) return;
  open_.push_back(left - right);
  for (int step = 0; step < kMostSteps && !open_.empty(); ++step) {
    IndexExpr next = std::move(open_.back());
    open_.pop_back();
    Process(std::move(next));
  }
  open_.clear();
}

IndexExpr IndexEquations::Replace(const IndexExpr& expression) const {
  return Substitute(expression, [&](VarId v) {
    const auto found = values_.find(v);
    return found == values_.end() ? IndexExpr::Var(v) : found->second;
  });
}

void IndexEquations::Process(IndexExpr expression) {
  expression = WithoutDivisions(Simplify(Replace(expression), intervals_));
  const Interval bounds = BoundsOf(expression, intervals_);
  contradictory_ |= bounds.lo > 0 || bounds.hi < 0;
  if (expression.IsConstant() || !IsSmall(expression)) return;
  if (SplitByFactor(expression) || ReplaceVariable(expression)) return;
  Store(expression);
}

IndexExpr IndexEquations::WithoutDivisions(IndexExpr expression) const {
  for (const Stored& stored : stored_) {
    if (!stored.division) continue;
    const int64_t factor = CoefficientOf(expression, *stored.division) *
                           CoefficientOf(stored.expression, *stored.division);
    if (factor != 0) expression -= stored.expression * factor;
  }
  return expression;
}

// Applies rule 2: a sum of multiples of a factor and of a rest between -factor and factor is 0 only
// if both parts are 0.
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

// Applies rule 1 to the variable whose own bounds say least beyond the bounds of its value, because
// they are lost.
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
  if (!best) return false;
  values_[*best] = best_value;
  for (auto& [variable, value] : values_) value = Simplify(Replace(value), intervals_);
  for (Stored& stored : stored_) open_.push_back(std::move(stored.expression));
  stored_.clear();
  return true;
}

// Applies rule 3.
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
