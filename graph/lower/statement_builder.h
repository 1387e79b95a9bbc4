// A builder of one statement. It collects iterators, domain conditions, and reads; reads may have
// guards.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/compute.h"

namespace tunec::lower {

/// The space of a statement's writes: iterators, and the logical index of the written element as
/// expressions over them (variable v is iterator v). Usually the index is the identity; a flattened
/// convolution with rows of W elements has oh = floor(p / W).
struct IterationSpace {
  Iterators iterators;
  std::vector<IndexExpr> index;
  std::vector<int64_t> shape;  // shape of the tensor that `index` addresses
  /// Additional conditions on the iterators, each >= 0: for example, the last block of rows may be
  /// partial.
  std::vector<IndexExpr> domain = {};
};

/// Returns a space with one parallel iterator for each dimension. A dimension d without an entry in
/// `names` is called i<d>.
IterationSpace IterationSpaceOf(const std::vector<int64_t>& shape,
                                const std::vector<std::string>& names = {});

class StatementBuilder {
 public:
  /// Makes a builder. `tensors` is the Compute's list; it must outlive the builder and may grow.
  explicit StatementBuilder(const Tensors& tensors) : tensors_(tensors) {}

  /// Appends an iterator and returns its variable.
  IndexExpr AddIterator(std::string name, int64_t extent, IteratorKind kind);
  IndexExpr AddReduction(std::string name, int64_t extent) {
    return AddIterator(std::move(name), extent, IteratorKind::kReduction);
  }
  /// Adds the iterators and the domain conditions of `space`, and returns the space's index.
  /// Requires: the builder has no iterators.
  std::vector<IndexExpr> AddSpace(const IterationSpace& space);

  /// Returns the iterators that the index uses, in the builder's order. SpaceOf returns a space of
  /// parallel copies of these iterators, with `index` rewritten over the copies.
  std::vector<IndexExpr> IteratorsOf(const std::vector<IndexExpr>& index) const;
  IterationSpace SpaceOf(const std::vector<IndexExpr>& index) const;

  /// Restricts the domain to points where the expression is >= 0. Does nothing if CanFail returns
  /// false.
  void Require(const IndexExpr& nonnegative);
  /// Returns whether the Bounds of the expression include negative numbers.
  bool CanFail(const IndexExpr& nonnegative) const;
  Interval Bounds(const IndexExpr& expr) const;

  /// Returns the element in the tensor's own type, under the current guards.
  Expr ReadTensor(TensorId tensor, std::vector<IndexExpr> index);

  /// Evaluates `body` under the current guards and all conditions that can fail (CanFail). A read
  /// happens only if all of these are >= 0, otherwise the read gives `outside`. If no condition is
  /// new, the previous `outside` applies.
  Expr EvaluateGuarded(const std::vector<IndexExpr>& nonnegative, double outside,
                       const std::function<Expr()>& body);
  /// Returns whether `value` is one read, possibly cast, that is guarded exactly by the current
  /// guards and `nonnegative`. Such a read needs no selection, because its guard gives the outside
  /// value.
  bool IsReadGuardedBy(const Expr& value, const std::vector<IndexExpr>& nonnegative) const;

  const std::vector<Read>& reads() const { return reads_; }
  /// Returns the statement with one write.
  Statement Build(std::string name, Write write, const Expr& value,
                  std::optional<Reducer> reducer = {}) &&;
  /// Returns the statement with a list of writes and one value for each write.
  Statement Build(std::string name, std::vector<Write> writes, std::vector<Expr> values,
                  std::optional<Reducer> reducer) &&;

  /// Cache of lazy values by (number, index), for the current guards. Under these guards, repeated
  /// uses of a value at one index share an expression. So the expressions of long chains of
  /// operators stay small.
  using MemoKey = std::pair<int, std::vector<IndexExpr>>;
  std::map<MemoKey, Expr>& memo() { return memos_[guards_]; }

 private:
  std::vector<IndexExpr> FailingConditions(const std::vector<IndexExpr>& nonnegative) const;
  std::vector<IndexExpr> MergeGuards(const std::vector<IndexExpr>& nonnegative) const;
  IntervalOf Intervals() const;
  void DropUnusedReads(std::vector<Write>& writes, std::vector<Expr>& values);

  const Tensors& tensors_;
  Iterators iterators_;
  std::vector<IndexExpr> domain_;
  std::vector<Read> reads_;
  std::vector<IndexExpr> guards_;  // current guards, sorted
  double outside_ = 0;
  std::map<std::vector<IndexExpr>, std::map<MemoKey, Expr>> memos_;
};

}  // namespace tunec::lower
