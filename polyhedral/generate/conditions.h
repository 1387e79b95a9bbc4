// The conditions under which statements run, at one node of the walk that generates loops from a
// schedule tree. The class Conditions finds conditions that are certainly true, and conditions that
// several statements share. It also finds the conditions that become bounds of a loop, and the
// iterations of a loop in which no condition on the loop can fail.
//
// A condition is an expression over the tree's loops that must be >= 0. Intervals may decide a
// condition: each loop has a range, which the walk narrows. A condition can be tested where all its
// loops are known. A known loop has a value, which is an expression over the nest's variables.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "polyhedral/schedule_tree.h"

namespace tunec {

/// Bounds of a loop over the nest's variables. The greatest lower bound and the least upper bound
/// apply; upper bounds are exclusive. Constant bounds are only in the loop's range.
struct Bounds {
  std::vector<IndexExpr> lower;
  std::vector<IndexExpr> upper;
  bool empty() const { return lower.empty() && upper.empty(); }
};

/// The result of FindSlantedConditions: the worst cases of conditions, over known loops.
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
  /// Returns the loop's value over the nest's variables; nullopt if the loop is not known.
  const std::optional<IndexExpr>& value(VarId loop) const { return values_[loop]; }
  /// Returns the ranges of the loops. The result refers to this object, which must not be moved or
  /// destroyed while the result is in use.
  IntervalOf Ranges() const {
    return [this](VarId loop) { return ranges_[loop]; };
  }

  void SetRange(VarId loop, Interval range) { ranges_[loop] = range; }
  void SetValue(VarId loop, IndexExpr value) { values_[loop] = std::move(value); }

  /// Rewrites an expression over known loops as an expression over the nest's variables.
  IndexExpr ToNest(const IndexExpr& over_loops) const;
  /// Returns whether each loop that the expression uses has a value or is `except`.
  bool IsKnown(const IndexExpr& expr, std::optional<VarId> except = {}) const;

  /// Simplifies the conditions of the statements below a node, and removes those that the ranges
  /// prove. A statement has no instances below the node, and is not live there, if the ranges prove
  /// that one of its conditions is never true.
  void Prove(const TreeNode& node);
  /// Returns the statements below a node in order, without those that are not live (see Prove).
  std::vector<StatementId> FindLiveStatements(const TreeNode& node) const;

  /// Returns the conditions that satisfy `predicate` and that all the statements have. TakeShared
  /// also removes these conditions from the statements.
  std::vector<IndexExpr> Shared(const std::vector<StatementId>& statements,
                                const Predicate& predicate) const;
  std::vector<IndexExpr> TakeShared(const std::vector<StatementId>& statements,
                                    const Predicate& predicate);
  /// Removes, from all live statements below the node, the conditions that are provably >= `by`.
  void RemoveImplied(const TreeNode& node, const IndexExpr& by);

  /// Removes the conditions that bound this loop and that all live statements below the loop have.
  /// Narrows the loop's range by these conditions, and by bounds that all these statements imply.
  /// Returns the bounds that are not constant.
  Bounds TakeBounds(const TreeNode& loop);

  /// Returns the interval of the loop's values for which no condition on the loop can fail. The
  /// interval is empty if there are no such values. Returns nullopt if a condition of a live
  /// statement below uses the loop and is not linear in it.
  std::optional<Interval> FindUnconditionalRange(const TreeNode& loop) const;

  /// Finds the conditions that use a loop of `asking`. If a loop is not known yet, the worst case
  /// replaces the terms with this loop. `open` has the results that may be true or false, and that
  /// depend on the variable of another loop than `loop`.
  SlantedConditions FindSlantedConditions(const TreeNode& loop,
                                          const std::vector<VarId>& asking) const;

  /// Returns whether the ranges prove, by the sum of two conditions, that not all can be true.
  bool Contradict(const std::vector<IndexExpr>& conditions) const;

 private:
  void Narrow(VarId loop, const IndexExpr& condition, Bounds& bounds);
  std::vector<IndexExpr> ImpliedBounds(VarId loop, StatementId statement) const;
  void AddImpliedBounds(VarId loop, const std::vector<StatementId>& live, Bounds& bounds);
  IndexExpr WorstCase(const IndexExpr& condition) const;

  const ScheduleTree* tree_;
  IdVector<VarId, Interval> ranges_;                  // per loop
  IdVector<VarId, std::optional<IndexExpr>> values_;  // per loop
  IdVector<StatementId, std::vector<IndexExpr>> conditions_;
  IdVector<StatementId, bool> dead_;  // the statement has no instance here
};

}  // namespace tunec
