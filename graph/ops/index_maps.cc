#include "graph/ops/index_maps.h"

#include <algorithm>

namespace tunec {
namespace {

struct AxisRange {
  size_t begin = 0;
  size_t end = 0;
};

// Returns the row-major position of `index` within the axes of `range`.
IndexExpr Linearise(const std::vector<IndexExpr>& index, const std::vector<int64_t>& shape,
                    AxisRange range) {
  IndexExpr linear = 0;
  for (size_t d = range.begin; d < range.end; ++d)
    if (shape[d] != 1) linear = linear * shape[d] + index[d];
  return linear;
}

void Delinearise(const IndexExpr& linear, const std::vector<int64_t>& shape, AxisRange range,
                 std::vector<IndexExpr>& index) {
  int64_t stride = 1;
  bool outermost_done = false;
  // The outermost axis longer than 1 needs no modulus: the position is within the group.
  size_t outermost = range.begin;
  while (outermost + 1 < range.end && shape[outermost] == 1) ++outermost;
  for (size_t d = range.end; d-- > range.begin;) {
    if (shape[d] == 1 || outermost_done) {
      index[d] = 0;
      continue;
    }
    const IndexExpr quotient = stride == 1 ? linear : IndexExpr::FloorDiv(linear, stride);
    outermost_done = d == outermost;
    index[d] = outermost_done ? quotient : IndexExpr::Mod(quotient, shape[d]);
    stride *= shape[d];
  }
}

}  // namespace

std::vector<IndexExpr> ReshapeIndex(const std::vector<IndexExpr>& index,
                                    const std::vector<int64_t>& from,
                                    const std::vector<int64_t>& to) {
  std::vector<IndexExpr> result(to.size(), IndexExpr(0));
  if (std::ranges::count(from, 0) > 0) return result;  // without elements, every map is correct
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() && j < to.size()) {
    AxisRange source{i, i + 1};
    AxisRange target{j, j + 1};
    int64_t source_size = from[i];
    int64_t target_size = to[j];
    while (source_size != target_size) {
      if (source_size < target_size && source.end < from.size()) {
        source_size *= from[source.end++];
      } else {
        target_size *= to[target.end++];
      }
    }
    Delinearise(Linearise(index, from, source), to, target, result);
    i = source.end;
    j = target.end;
  }
  return result;  // all remaining axes have extent 1
}

std::vector<IndexExpr> Permute(const std::vector<IndexExpr>& index,
                               const std::vector<int64_t>& permutation) {
  std::vector<IndexExpr> result;
  for (const int64_t axis : permutation) result.push_back(index[axis]);
  return result;
}

std::vector<IndexExpr> Unpermute(const std::vector<IndexExpr>& index,
                                 const std::vector<int64_t>& permutation) {
  std::vector<IndexExpr> result(index.size(), IndexExpr(0));
  for (size_t d = 0; d < permutation.size(); ++d) result[permutation[d]] = index[d];
  return result;
}

bool IsAffine(const std::vector<IndexExpr>& index) {
  return std::ranges::none_of(index, [](const IndexExpr& e) {
    return std::ranges::any_of(e.terms(), [](const IndexTerm& term) {
      return term.atom.kind == IndexAtom::Kind::kFloorDiv;
    });
  });
}

}  // namespace tunec
