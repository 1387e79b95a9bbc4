// Reductions over some axes of a value: which iterators are kept, and the statement itself.
#pragma once

#include <functional>
#include <vector>

#include "graph/lower/context.h"

namespace tunec::lower {

/// A set of axes of a shape.
class AxisSet {
 public:
  AxisSet(const std::vector<int64_t>& axes, size_t rank);
  /// All axes from `first` on.
  static AxisSet From(int64_t first, size_t rank);

  bool Has(size_t axis) const { return reduced_[axis]; }
  /// The extents of the axes that are not in the set.
  std::vector<int64_t> Kept(const std::vector<int64_t>& shape) const;
  /// The indices of the axes that are not in the set.
  Index KeptIndex(const Index& index) const;
  /// The product of the extents in the set.
  int64_t Count(const std::vector<int64_t>& shape) const;
  size_t size() const;

 private:
  explicit AxisSet(std::vector<bool> reduced) : reduced_(std::move(reduced)) {}
  std::vector<bool> reduced_;
};

/// The body of a reduction at a full index of the reduced shape.
using Body = std::function<Expr(StatementBuilder&, const Index&)>;

/// A workspace tensor of the kept axes: t[kept] reducer= body(index). Over no elements it is
/// the reducer's identity.
Lazy ReduceOver(LowerContext& context, const std::vector<int64_t>& shape, const AxisSet& axes,
                DataType accumulator, const Reducer& reducer, const Body& body);

}  // namespace tunec::lower
