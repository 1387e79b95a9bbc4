// Index maps of the data-moving operators.
#pragma once

#include <vector>

#include "ir/expr/index_expr.h"

namespace tunec {

/// The index into `to` of the element that row-major order puts where `index` is in `from`.
/// Both shapes hold as many elements. Axes are matched in the smallest groups of equal
/// product, so that a split or merge of some axes leaves the other indices as they are.
std::vector<IndexExpr> ReshapeIndex(const std::vector<IndexExpr>& index,
                                    const std::vector<int64_t>& from,
                                    const std::vector<int64_t>& to);

/// index[permutation[d]] at d.
std::vector<IndexExpr> Permute(const std::vector<IndexExpr>& index,
                               const std::vector<int64_t>& permutation);
/// The inverse: index[d] at permutation[d].
std::vector<IndexExpr> Unpermute(const std::vector<IndexExpr>& index,
                                 const std::vector<int64_t>& permutation);

/// Whether all of it is sums of iterators with factors.
bool IsAffine(const std::vector<IndexExpr>& index);

}  // namespace tunec
