// Builds one statement of a lowering: iterators, domain conditions, reads and their guards.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/compute.h"

namespace tunec::lower {

/// Where a statement writes: iterators, and the logical index of the written element as
/// expressions over them (variable v is iterator v). Usually the identity; a flattened
/// convolution has oh = floor(p / W).
struct IterationSpace {
  Iterators iterators;
  std::vector<IndexExpr> index;
  std::vector<int64_t> shape;  // of the tensor that `index` addresses
  /// Further conditions on the iterators, each >= 0: the last block of rows may be partial.
  std::vector<IndexExpr> domain = {};
};

/// One parallel iterator for each dimension; names beyond `names` are i0, i1, ...
IterationSpace BoxOf(const std::vector<int64_t>& shape, const std::vector<std::string>& names = {});

class StatementBuilder {
 public:
  /// `tensors` is the Compute's list; it must outlive the builder and may grow meanwhile.
  explicit StatementBuilder(const Tensors& tensors) : tensors_(tensors) {}

  /// Appends an iterator and returns its variable.
  IndexExpr AddIterator(std::string name, int64_t extent, IteratorKind kind);
  IndexExpr AddReduction(std::string name, int64_t extent) {
    return AddIterator(std::move(name), extent, IteratorKind::kReduction);
  }
  /// Appends the iterators of `space`, which must be the first ones, and returns its index.
  std::vector<IndexExpr> AddSpace(const IterationSpace& space);

  /// The iterators that the index uses, in order: as variables, and as a space of their own over
  /// which `index` is rewritten.
  std::vector<IndexExpr> IteratorsOf(const std::vector<IndexExpr>& index) const;
  IterationSpace SpaceOf(const std::vector<IndexExpr>& index) const;

  /// Restricts the domain to where the expression is >= 0; nothing when that always holds.
  void Require(const IndexExpr& nonnegative);
  /// Whether the expression can be negative, as far as intervals tell.
  bool CanFail(const IndexExpr& nonnegative) const;
  Interval Bounds(const IndexExpr& expr) const;

  /// The element, as a value of the tensor's own type. Carries the guards in force.
  Expr ReadTensor(TensorId tensor, std::vector<IndexExpr> index);

  /// Evaluates `body` with its reads guarded: they happen only where every condition is >= 0,
  /// elsewhere they give `outside`. Conditions that always hold are left out.
  Expr UnderGuard(const std::vector<IndexExpr>& nonnegative, double outside,
                  const std::function<Expr()>& body);
  /// Whether `value` is one read, whose guard is just the guards in force and `nonnegative`:
  /// it needs no selection, since its guard gives the outside value.
  bool IsReadGuardedBy(const Expr& value, const std::vector<IndexExpr>& nonnegative) const;

  const std::vector<Read>& reads() const { return reads_; }
  /// The statement with one write.
  Statement Build(std::string name, Write write, const Expr& value,
                  std::optional<Reducer> reducer = {}) &&;
  /// Several writes.
  Statement Build(std::string name, std::vector<Write> writes, std::vector<Expr> values,
                  std::optional<Reducer> reducer) &&;

  /// Memory of lazy values by (their number, index): a value used twice at one index is one
  /// expression, so chains that reuse their operands stay small. Empty under other guards.
  using MemoKey = std::pair<int, std::vector<IndexExpr>>;
  std::map<MemoKey, Expr>& memo() { return memos_[guards_]; }

 private:
  std::vector<IndexExpr> FailingConditions(const std::vector<IndexExpr>& nonnegative) const;
  std::vector<IndexExpr> GuardedWith(const std::vector<IndexExpr>& nonnegative) const;
  IntervalOf Intervals() const;
  void DropUnusedReads(std::vector<Write>& writes, std::vector<Expr>& values);

  const Tensors& tensors_;
  Iterators iterators_;
  std::vector<IndexExpr> domain_;
  std::vector<Read> reads_;
  std::vector<IndexExpr> guards_;  // in force, sorted
  double outside_ = 0;
  std::map<std::vector<IndexExpr>, std::map<MemoKey, Expr>> memos_;
};

}  // namespace tunec::lower
