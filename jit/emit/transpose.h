// Loads of transposed blocks; see transpose.cc.
#pragma once

#include <vector>

#include "jit/emit/state.h"

namespace tunec::jit {

/// Returns the number of copies of the current unrolled loop, from the current copy on, that read
/// consecutive offsets starting at `here`. `here` is the offset in the current copy. The result is
/// a power of two, at most the lanes of the inner vector loop; 0 if too few copies do.
int CopiesThatReadNeighbours(EmitState& state, const IndexExpr& offset, const LinearIndex& here);

/// Transposes a block of vectors, one per row. Requires: powers of two; row length at most
/// the number of rows.
std::vector<IrValue> Transpose(Builder& builder, std::vector<IrValue> rows);

}  // namespace tunec::jit
