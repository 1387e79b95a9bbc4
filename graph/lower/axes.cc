#include "graph/lower/axes.h"

#include <algorithm>

namespace tunec::lower {

AxisSet::AxisSet(const std::vector<int64_t>& axes, size_t rank) : reduced_(rank) {
  for (const int64_t axis : axes) reduced_[axis] = true;
}

AxisSet AxisSet::From(int64_t first, size_t rank) {
  std::vector<bool> reduced(rank);
  for (size_t d = first; d < rank; ++d) reduced[d] = true;
  return AxisSet(std::move(reduced));
}

std::vector<int64_t> AxisSet::RemainingShape(const std::vector<int64_t>& shape) const {
  std::vector<int64_t> remaining;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!reduced_[d]) remaining.push_back(shape[d]);
  return remaining;
}

Index AxisSet::RemainingIndex(const Index& index) const {
  Index remaining;
  for (size_t d = 0; d < index.size(); ++d)
    if (!reduced_[d]) remaining.push_back(index[d]);
  return remaining;
}

int64_t AxisSet::Count(const std::vector<int64_t>& shape) const {
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d)
    if (reduced_[d]) count *= shape[d];
  return count;
}

size_t AxisSet::size() const { return std::ranges::count(reduced_, true); }

Lazy ReduceOver(LowerContext& context, const std::vector<int64_t>& shape, const AxisSet& axes,
                DataType accumulator, const Reducer& reducer, const Body& body) {
  const std::vector<int64_t> remaining = axes.RemainingShape(shape);
  if (axes.Count(shape) == 0) {
    Expr identity = reducer.identity[0];
    return context.Define(accumulator, remaining, 0,
                          [identity](StatementBuilder&, const Index&) { return identity; });
  }
  StatementBuilder builder = context.NewStatement();
  const Index out = builder.AddSpace(IterationSpaceOf(remaining));
  Index full;
  int reductions = 0;
  for (size_t d = 0, next = 0; d < shape.size(); ++d)
    full.push_back(axes.Has(d) ? builder.AddReduction("r" + std::to_string(reductions++), shape[d])
                               : out[next++]);
  const Expr value = body(builder, full);
  const TensorId tensor = context.AddWorkspace("", accumulator, remaining);
  return context.EmitReduction(std::move(builder), tensor, out, value, reducer, accumulator);
}

}  // namespace tunec::lower
