// The conditions under which statements run, at one node of the walk that generates loops from a
// schedule tree. The class Conditions finds conditions that are certainly true, and conditions that
// several statements share. It also finds the conditions that become bounds of a loop, and the
// iterations of a loop in which no condition can fail.
//
// A condition is an expression over the tree's loops that must be >= 0. Intervals decide a
// condition: each loop has a range, which the walk narrows. A condition can be tested where all its
// loops are known. A known loop has a value, which is a variable of the nest or a constant.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "polyhedral/schedule_tree.h"

namespace tunec {

/// Bounds of a loop over the nest's variables. The greatest lower bound and the least upper bound
/// apply. Constant bounds are not included: they are in the loop's range.
struct Bounds {
  std::vector<IndexExpr> lower;
  std::vector<IndexExpr> upper;
  bool empty() const { return lower.empty() && upper.empty(); }
};

/// Conditions on outer loops under which all instances of a body run.
struct SlantedConditions {
  std::vector<IndexExpr> open;  // conditions that may be true or false here
  bool fails = false;           // some condition is never true in the worst case of the inner loops
};

/// Returns whether loops of this kind form chains with constant bounds. These are the loops over
/// tasks, waves and the threads of a block.
constexpr bool HasConstantBounds(LoopKind kind) { return NumbersTasks(kind) || IsBlock(kind); }

/// The conditions of all statements, and the ranges and values of all loops, at one node. Each
/// branch of the walk has a copy of the object. The tree must outlive the object.
class Conditions {
 public:
  using Predicate = std::function<bool(const IndexExpr&)>;

  /// Makes the conditions at the root, where no loop is known: iterators are within their extents
  /// and in the domain, and each loop equals its scheduled value.
  explicit Conditions(const ScheduleTree& tree);

  const std::vector<IndexExpr>& Of(StatementId statement) const { return conditions_[statement]; }
  Interval range(VarId loop) const { return ranges_[loop]; }
  /// Returns the loop's variable in the nest or a constant; nullopt outside the loop.
  const std::optional<IndexExpr>& value(VarId loop) const { return values_[loop]; }
  /// Returns the ranges of the loops. The result refers to this object, which must not be moved or
  /// destroyed before it.
  IntervalOf Ranges() const {
    return [this](VarId loop) { return ranges_[loop]; };
  }

  void SetRange(VarId loop, Interval range) { ranges_[loop] = range; }
  void SetValue(VarId loop, IndexExpr value) { values_[loop] = std::move(value); }

  /// Rewrites an expression over known loops as an expression over the nest's variables.
  IndexExpr ToNest(const IndexExpr& over_loops) const;
  /// Returns whether each loop that the expression uses has a value or is `except`.
  bool IsKnown(const IndexExpr& expr, std::optional<VarId> except = {}) const;

  /// Simplifies the conditions of the statements below a node and removes those that are always
  /// true. A statement with a condition that is never true has no instances below the node and is
  /// not live there.
  void Prove(const TreeNode& node);
  /// Returns the statements below a node in order, without those that are not live (see Prove).
  std::vector<StatementId> FindLiveStatements(const TreeNode& node) const;

  /// Returns the conditions that satisfy `predicate` and that all the statements have. TakeShared
  /// also removes these conditions from the statements.
  std::vector<IndexExpr> Shared(const std::vector<StatementId>& statements,
                                const Predicate& predicate) const;
  std::vector<IndexExpr> TakeShared(const std::vector<StatementId>& statements,
                                    const Predicate& predicate);
  /// Removes, from all statements below the node, the conditions that `by` >= 0 implies.
  void RemoveImplied(const TreeNode& node, const IndexExpr& by);

  /// Removes the conditions that bound this loop and that all statements below the loop have.
  /// Narrows the loop's range by these conditions. Returns the bounds that are not constant.
  Bounds TakeBounds(const TreeNode& loop);

  /// Returns the interval of the loop's values for which no condition on the loop can fail. It is
  /// empty if there are none. Returns nullopt if a condition below is not linear in the loop.
  std::optional<Interval> FindUnconditionalRange(const TreeNode& loop) const;

  /// Returns conditions that use a loop of `asking` and that also depend on variables outside
  /// `loop`. They describe the start and end of a skewed domain, which no constant bounds. In each
  /// condition, loops that are not known yet are replaced by their worst case.
  SlantedConditions FindSlantedConditions(const TreeNode& loop,
                                          const std::vector<VarId>& asking) const;

  /// Returns whether the ranges prove that two of the conditions are never true together.
  bool Contradict(const std::vector<IndexExpr>& conditions) const;

 private:
  void Narrow(VarId loop, const IndexExpr& condition, Bounds& bounds);
  void AddImpliedBounds(VarId loop, const std::vector<StatementId>& live, Bounds& bounds);
  IndexExpr WorstCase(const IndexExpr& condition) const;

  const ScheduleTree* tree_;
  IdVector<VarId, Interval> ranges_;                  // per loop
  IdVector<VarId, std::optional<IndexExpr>> values_;  // per loop
  IdVector<StatementId, std::vector<IndexExpr>> conditions_;
  IdVector<StatementId, bool> dead_;  // the statement has no instance here
};

}  // namespace tunec
