#include "polyhedral/generate/conditions.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "support/check.h"

namespace tunec {
namespace {

bool Contains(const std::vector<IndexExpr>& list, const IndexExpr& expr) {
  return std::ranges::find(list, expr) != list.end();
}

// Returns the conditions of one statement, over the loops of the tree. `ranges` has the ranges of
// the loops.
std::vector<IndexExpr> ConditionsOf(const ScheduleTree& tree, StatementId s,
                                    const IntervalOf& ranges) {
  const Statement& statement = tree.statements[s];
  const std::vector<IndexExpr>& inverse = tree.inverse[s];
  std::vector<IndexExpr> conditions;
  for (const VarId i : statement.iterators.ids()) {
    conditions.push_back(inverse[i.index()]);
    conditions.push_back(IndexExpr(statement.iterators[i].extent - 1) - inverse[i.index()]);
  }
  for (const IndexExpr& condition : statement.domain) {
    conditions.push_back(Substitute(condition, inverse));
  }
  for (const auto& [loop, forward] : tree.forward[s]) {
    const IndexExpr difference =
        Simplify(Substitute(forward, inverse), ranges) - IndexExpr::Var(loop);
    if (difference == IndexExpr(0)) continue;
    conditions.push_back(difference);
    conditions.push_back(-difference);
  }
  return conditions;
}

IndexExpr Alone(const IndexTerm& term) {
  if (term.atom.kind == IndexAtom::Kind::kVariable) {
    return IndexExpr::Var(term.atom.variable()) * term.coefficient;
  }
  TUNEC_CHECK(term.atom.kind == IndexAtom::Kind::kFloorDiv, "a loop is bounded by a loaded value");
  return IndexExpr::FloorDiv(*term.atom.numerator, term.atom.divisor) * term.coefficient;
}

IndexExpr Without(const IndexExpr& condition, VarId loop) {
  return condition - IndexExpr::Var(loop) * condition.Coefficient(loop);
}

bool IsSlanted(const IndexExpr& condition) {
  const auto rises = [](const IndexTerm& term) { return term.coefficient > 0; };
  return std::ranges::any_of(condition.terms(), rises) &&
         !std::ranges::all_of(condition.terms(), rises);
}

// Returns an equivalent condition with fewer loops, or the condition unchanged. Let g be the size
// of a coefficient, and y the sum of the constant and of the terms that are not multiples of g. If
// floor(y / g) is constant within the ranges, g*x + y >= 0 equals x + floor(y / g) >= 0. Only
// slanted conditions, which have coefficients of both signs, are changed.
IndexExpr WithoutRemainder(const IndexExpr& condition, const IntervalOf& ranges) {
  if (condition.UsesLoaded() || !IsSlanted(condition)) return condition;
  for (const IndexTerm& candidate : condition.terms()) {
    const int64_t g = std::abs(candidate.coefficient);
    IndexExpr multiples, rest(condition.constant());
    for (const IndexTerm& term : condition.terms())
      (term.coefficient % g == 0 ? multiples : rest) += Alone(term);
    if (g == 1 || rest.IsConstant() || !IsSlanted(multiples)) continue;
    const Interval bounds = BoundsOf(rest, ranges);
    const int64_t below = FloorDivide(bounds.lo, g);
    if (below == FloorDivide(bounds.hi, g)) return multiples + below * g;
  }
  return condition;
}

void AddBound(IndexExpr bound, std::vector<IndexExpr>& bounds) {
  if (!bound.IsConstant() && !Contains(bounds, bound)) bounds.push_back(std::move(bound));
}

}  // namespace

Conditions::Conditions(const ScheduleTree& tree)
    : tree_(&tree), values_(tree.loops.size()), dead_(tree.statements.size()) {
  for (const TreeLoop& loop : tree.loops) ranges_.push_back({0, loop.extent - 1});
  for (const StatementId s : tree.statements.ids()) {
    conditions_.push_back(ConditionsOf(tree, s, Ranges()));
  }
}

IndexExpr Conditions::ToNest(const IndexExpr& over_loops) const {
  return Substitute(Simplify(over_loops, Ranges()), [&](VarId loop) -> IndexExpr {
    TUNEC_CHECK(values_[loop].has_value(), "loop {} is used outside itself",
                tree_->loops[loop].name);
    return *values_[loop];
  });
}

bool Conditions::IsKnown(const IndexExpr& expr, std::optional<VarId> except) const {
  std::vector<VarId> used;
  expr.CollectVars(used);
  return std::ranges::all_of(
      used, [&](VarId loop) { return values_[loop].has_value() || (except && *except == loop); });
}

void Conditions::Prove(const TreeNode& node) {
  const auto value = [&](VarId loop) {
    const Interval range = ranges_[loop];
    return range.lo == range.hi ? IndexExpr(range.lo) : IndexExpr::Var(loop);
  };
  for (const StatementId s : StatementsBelow(node)) {
    if (dead_[s]) continue;
    std::vector<IndexExpr> open;
    for (const IndexExpr& condition : conditions_[s]) {
      IndexExpr simplified =
          WithoutRemainder(Simplify(Substitute(condition, value), Ranges()), Ranges());
      const Interval bounds = BoundsOf(simplified, Ranges());
      if (bounds.hi < 0) dead_[s] = true;
      if (bounds.lo < 0 && !Contains(open, simplified)) open.push_back(std::move(simplified));
    }
    conditions_[s] = std::move(open);
  }
}

std::vector<StatementId> Conditions::FindLiveStatements(const TreeNode& node) const {
  std::vector<StatementId> statements = StatementsBelow(node);
  std::erase_if(statements, [&](StatementId s) { return dead_[s]; });
  return statements;
}

std::vector<IndexExpr> Conditions::Shared(const std::vector<StatementId>& statements,
                                          const Predicate& predicate) const {
  std::vector<IndexExpr> shared;
  if (statements.empty()) return shared;
  for (const IndexExpr& condition : conditions_[statements[0]]) {
    const bool everywhere = std::ranges::all_of(
        statements, [&](StatementId s) { return Contains(conditions_[s], condition); });
    if (everywhere && predicate(condition)) shared.push_back(condition);
  }
  return shared;
}

std::vector<IndexExpr> Conditions::TakeShared(const std::vector<StatementId>& statements,
                                              const Predicate& predicate) {
  std::vector<IndexExpr> shared = Shared(statements, predicate);
  for (const StatementId s : statements) {
    std::erase_if(conditions_[s],
                  [&](const IndexExpr& condition) { return Contains(shared, condition); });
  }
  return shared;
}

void Conditions::RemoveImplied(const TreeNode& node, const IndexExpr& by) {
  for (const StatementId s : FindLiveStatements(node)) {
    std::erase_if(conditions_[s], [&](const IndexExpr& condition) {
      return BoundsOf(Simplify(condition - by, Ranges()), Ranges()).lo >= 0;
    });
  }
}

// Narrows the loop's range by a condition on the loop and on known loops. Adds the condition to
// `bounds` if the bound is not constant.
void Conditions::Narrow(VarId loop, const IndexExpr& condition, Bounds& bounds) {
  Interval& range = ranges_[loop];
  const int64_t coefficient = condition.Coefficient(loop);
  const IndexExpr rest = Without(condition, loop);
  const Interval of_rest = BoundsOf(rest, Ranges());
  if (coefficient > 0) {  // loop >= ceil(-rest / coefficient)
    AddBound(ToNest(-IndexExpr::FloorDiv(rest, coefficient)), bounds.lower);
    range.lo = std::max(range.lo, CeilDivide(-of_rest.hi, coefficient));
  } else {  // loop <= floor(rest / -coefficient)
    AddBound(ToNest(IndexExpr::FloorDiv(rest, -coefficient) + 1), bounds.upper);
    range.hi = std::min(range.hi, FloorDivide(of_rest.hi, -coefficient));
  }
}

// Returns the bounds of `loop` that follow from a statement's conditions on the loop and on inner
// loops: each condition, with the best case of the inner loops.
std::vector<IndexExpr> Conditions::ImpliedBounds(VarId loop, StatementId statement) const {
  std::vector<IndexExpr> bounds;
  for (const IndexExpr& condition : conditions_[statement]) {
    if (condition.Coefficient(loop) == 0 || condition.UsesLoaded() || IsKnown(condition, loop))
      continue;
    IndexExpr implied(condition.constant());
    for (const IndexTerm& term : condition.terms()) {
      const IndexExpr alone = Alone(term);
      implied += IsKnown(alone, loop) ? alone : BoundsOf(alone, Ranges()).hi;
    }
    if (Without(implied, loop).Uses(loop) || BoundsOf(implied, Ranges()).lo >= 0) continue;
    bounds.push_back(std::move(implied));
  }
  return bounds;
}

// Adds the implied bounds that all statements share. So a loop over tiles of a skewed domain can
// skip empty tiles at its ends. The conditions themselves are retained.
void Conditions::AddImpliedBounds(VarId loop, const std::vector<StatementId>& live,
                                  Bounds& bounds) {
  if (live.empty()) return;
  // Only serial loops that are neither isolated nor pipelined get implied bounds that are not
  // constant.
  const TreeLoop& tree_loop = tree_->loops[loop];
  const bool bends =
      tree_loop.kind == LoopKind::kSerial && !tree_loop.isolate && !tree_loop.IsPipelined();
  std::vector<IndexExpr> shared = ImpliedBounds(loop, live[0]);
  for (const StatementId s : live) {
    const std::vector<IndexExpr> others = ImpliedBounds(loop, s);
    std::erase_if(shared, [&](const IndexExpr& bound) { return !Contains(others, bound); });
  }
  for (const IndexExpr& bound : shared) {
    if (bends || Without(bound, loop).IsConstant()) Narrow(loop, bound, bounds);
  }
}

Bounds Conditions::TakeBounds(const TreeNode& node) {
  const VarId loop = node.loop;
  const TreeLoop& tree_loop = tree_->loops[loop];
  const bool constant = HasConstantBounds(tree_loop.kind) || tree_loop.IsPipelined();
  const auto bounds_it = [&](const IndexExpr& condition) {
    const IndexExpr rest = Without(condition, loop);
    return condition.Coefficient(loop) != 0 && !rest.Uses(loop) && IsKnown(rest) &&
           (!constant || rest.IsConstant());
  };
  const std::vector<StatementId> live = FindLiveStatements(node);
  Bounds bounds;
  const std::vector<IndexExpr> shared = TakeShared(live, bounds_it);
  for (const IndexExpr& condition : shared) Narrow(loop, condition, bounds);
  AddImpliedBounds(loop, live, bounds);
  return bounds;
}

std::optional<Interval> Conditions::FindUnconditionalRange(const TreeNode& node) const {
  Interval clean = ranges_[node.loop];
  for (const StatementId s : FindLiveStatements(node)) {
    for (const IndexExpr& condition : conditions_[s]) {
      if (!condition.Uses(node.loop)) continue;
      const int64_t coefficient = condition.Coefficient(node.loop);
      const IndexExpr rest = Without(condition, node.loop);
      if (coefficient == 0 || rest.Uses(node.loop)) return std::nullopt;
      const int64_t least = BoundsOf(rest, Ranges()).lo;
      if (coefficient > 0) {
        clean.lo = std::max(clean.lo, CeilDivide(-least, coefficient));
      } else {
        clean.hi = std::min(clean.hi, FloorDivide(least, -coefficient));
      }
    }
  }
  return clean;
}

// Returns the condition with the least value of each term that uses loops that are not known yet.
IndexExpr Conditions::WorstCase(const IndexExpr& condition) const {
  IndexExpr worst(condition.constant());
  for (const IndexTerm& term : condition.terms()) {
    const IndexExpr alone = Alone(term);
    worst += IsKnown(alone) ? alone : BoundsOf(alone, Ranges()).lo;
  }
  return worst;
}

SlantedConditions Conditions::FindSlantedConditions(const TreeNode& node,
                                                    const std::vector<VarId>& asking) const {
  SlantedConditions slanted;
  for (const StatementId s : FindLiveStatements(node)) {
    for (const IndexExpr& condition : conditions_[s]) {
      const bool asked = std::ranges::any_of(asking, [&](VarId v) { return condition.Uses(v); });
      if (!asked || condition.UsesLoaded()) continue;
      IndexExpr worst = WorstCase(condition);
      std::vector<VarId> used;
      worst.CollectVars(used);
      const bool varies = std::ranges::any_of(
          used, [&](VarId v) { return v != node.loop && values_[v] && !values_[v]->IsConstant(); });
      const Interval bounds = BoundsOf(worst, Ranges());
      slanted.fails |= bounds.hi < 0;
      const bool open = bounds.lo < 0 && bounds.hi >= 0;
      if (varies && open && !Contains(slanted.open, worst)) {
        slanted.open.push_back(std::move(worst));
      }
    }
  }
  return slanted;
}

bool Conditions::Contradict(const std::vector<IndexExpr>& conditions) const {
  for (const IndexExpr& a : conditions) {
    for (const IndexExpr& b : conditions) {
      if (BoundsOf(Simplify(a + b, Ranges()), Ranges()).hi < 0) return true;
    }
  }
  return false;
}

}  // namespace tunec
