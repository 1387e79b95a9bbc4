// The conditions under which statements run, at one place of the walk over a schedule tree that
// makes loops of it: which of them certainly hold there, which all statements share, which become
// bounds of a loop, and where a loop is free of them.
//
// A condition is an expression over the tree's loops that is to be >= 0. It is decided by
// intervals: each loop has a range, which the walk narrows. It can be tested where all its loops
// are known: where each has a value, a variable of the nest or a constant.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "polyhedral/schedule_tree.h"

namespace tunec {

/// Of a loop, over the nest's variables; the greatest lower and the least upper one count. Constant
/// ones are no part of it: they are in the loop's range.
struct Bounds {
  std::vector<IndexExpr> lower;
  std::vector<IndexExpr> upper;
  bool empty() const { return lower.empty() && upper.empty(); }
};

/// Of a body, the conditions that tell where all of it runs.
struct SlantedConditions {
  std::vector<IndexExpr> open;  // that may hold or not
  bool fails = false;           // one never does, as loops further in are taken at their worst
};

/// Whether loops of this kind stand in a chain, of tasks or of the threads of a block, whose bounds
/// are constants.
constexpr bool HasConstantBounds(LoopKind kind) { return NumbersTasks(kind) || IsBlock(kind); }

/// A value: each branch of the walk has its own copy. Refers to the tree, which must outlive it.
class Conditions {
 public:
  using Wanted = std::function<bool(const IndexExpr&)>;

  /// Those of every statement at the root, where no loop is known: its iterators within their
  /// extents, its domain, and each loop equal to the value that the schedule gives it.
  explicit Conditions(const ScheduleTree& tree);

  const std::vector<IndexExpr>& Of(StatementId statement) const { return conditions_[statement]; }
  Interval range(VarId loop) const { return ranges_[loop]; }
  /// The loop's variable in the nest or a constant; none outside of the loop.
  const std::optional<IndexExpr>& value(VarId loop) const { return values_[loop]; }
  /// Lives as long as this object, which keeps its place.
  IntervalOf Ranges() const {
    return [this](VarId loop) { return ranges_[loop]; };
  }

  void SetRange(VarId loop, Interval range) { ranges_[loop] = range; }
  void SetValue(VarId loop, IndexExpr value) { values_[loop] = std::move(value); }

  /// An expression over loops that are known, over the nest's variables.
  IndexExpr ToNest(const IndexExpr& over_loops) const;
  /// Whether all loops of an expression are known, those but `except`.
  bool IsKnown(const IndexExpr& expr, std::optional<VarId> except = {}) const;

  /// Simplifies the conditions of the statements below a node and drops those that always hold. A
  /// statement with one that never does is not Live from here on.
  void Prove(const TreeNode& node);
  /// The statements below a node that have instances here, in order.
  std::vector<StatementId> LiveBelow(const TreeNode& node) const;

  /// The wanted conditions that all the statements have in common. Take: and no longer have.
  std::vector<IndexExpr> Shared(const std::vector<StatementId>& statements,
                                const Wanted& wanted) const;
  std::vector<IndexExpr> TakeShared(const std::vector<StatementId>& statements,
                                    const Wanted& wanted);
  /// Takes from all statements below the node what one condition implies.
  void TakeImplied(const TreeNode& node, const IndexExpr& by);

  /// Takes what the statements below a loop's node share and what bounds this loop, narrows its
  /// range by it, and gives the bounds that are not constant.
  Bounds TakeBounds(const TreeNode& loop);

  /// The values of the loop for which no condition below can fail, where that is an interval.
  std::optional<Interval> CleanRange(const TreeNode& loop) const;

  /// Of the loops `asking`, the conditions that also depend on variables outside of `loop`: where a
  /// skewed domain begins and ends, which no constant cuts off. Those that loops further in decide
  /// are taken at their worst there.
  SlantedConditions SlantedBelow(const TreeNode& loop, const std::vector<VarId>& asking) const;

  /// Whether two of the conditions never hold together.
  bool Contradict(const std::vector<IndexExpr>& conditions) const;

 private:
  void Narrow(VarId loop, const IndexExpr& condition, Bounds& bounds);
  void AddImpliedBounds(VarId loop, const std::vector<StatementId>& live, Bounds& bounds);
  IndexExpr AtWorst(const IndexExpr& condition) const;

  const ScheduleTree* tree_;
  IdVector<VarId, Interval> ranges_;                  // per loop
  IdVector<VarId, std::optional<IndexExpr>> values_;  // per loop
  IdVector<StatementId, std::vector<IndexExpr>> conditions_;
  IdVector<StatementId, bool> dead_;  // no instance here
};

}  // namespace tunec
