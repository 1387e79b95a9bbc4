// Transposition in registers, for vector loops whose lanes read strided elements (transpose.cc).
#pragma once

#include <vector>

#include "jit/emit/state.h"

namespace tunec::jit {

/// Returns the number of copies of the current unrolled loop, from the current copy on, that read
/// consecutive offsets starting at `here`. `here` is the offset in the current copy. The number is
/// rounded down to a power of two, at most the number of lanes of the inner vector loop. A number
/// below 4 becomes 0. The result is also 0 if the current scope is inside the copy.
int CountNeighbourCopies(EmitState& state, const IndexExpr& offset, const LinearIndex& here);

/// Transposes a block of vectors, one per row. The number of rows and the row length must be powers
/// of two, and a row must not be longer than the number of rows.
std::vector<IrValue> Transpose(Builder& builder, std::vector<IrValue> rows);

}  // namespace tunec::jit
