// Index maps of reshapes and transposes.
#pragma once

#include <vector>

#include "ir/expr/index_expr.h"

namespace tunec {

/// Returns the index into `to` of the element at `index` in `from`, in row-major order. Both shapes
/// have the same number of elements. Axes are matched in the smallest groups of equal product, so
/// that a split or merge of some axes leaves the other indices unchanged.
std::vector<IndexExpr> ReshapeIndex(const std::vector<IndexExpr>& index,
                                    const std::vector<int64_t>& from,
                                    const std::vector<int64_t>& to);

/// Returns index[permutation[d]] at d.
std::vector<IndexExpr> Permute(const std::vector<IndexExpr>& index,
                               const std::vector<int64_t>& permutation);
/// Applies the inverse permutation: returns index[d] at permutation[d].
std::vector<IndexExpr> Unpermute(const std::vector<IndexExpr>& index,
                                 const std::vector<int64_t>& permutation);

/// Returns whether no expression contains a quotient or a remainder.
bool IsAffine(const std::vector<IndexExpr>& index);

}  // namespace tunec
