// A set of axes, and a function that reduces a value over such a set.
#pragma once

#include <functional>
#include <vector>

#include "graph/lower/context.h"

namespace tunec::lower {

/// A set of axes of a shape.
class AxisSet {
 public:
  AxisSet(const std::vector<int64_t>& axes, size_t rank);
  /// Returns the set of all axes from `first` on.
  static AxisSet From(int64_t first, size_t rank);

  bool Has(size_t axis) const { return reduced_[axis]; }
  /// Returns the extents of the axes that are not in the set.
  std::vector<int64_t> RemainingShape(const std::vector<int64_t>& shape) const;
  /// Returns the components of `index` for the axes that are not in the set.
  Index RemainingIndex(const Index& index) const;
  /// Returns the product of the extents in the set.
  int64_t Count(const std::vector<int64_t>& shape) const;
  size_t size() const;

 private:
  explicit AxisSet(std::vector<bool> reduced) : reduced_(std::move(reduced)) {}
  std::vector<bool> reduced_;
};

/// A function that returns the value to reduce at an index of the shape before the reduction.
using Body = std::function<Expr(StatementBuilder&, const Index&)>;

/// Reduces `body` over the axes into a workspace tensor t of the remaining axes:
/// t[remaining] reducer= body(index). Returns the value of t. Over no elements, there is no t, and
/// the result is the reducer's identity.
Lazy ReduceOver(LowerContext& context, const std::vector<int64_t>& shape, const AxisSet& axes,
                DataType accumulator, const Reducer& reducer, const Body& body);

}  // namespace tunec::lower
