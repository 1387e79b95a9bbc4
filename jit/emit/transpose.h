// Loads of blocks that lie the other way round; see transpose.cc.
#pragma once

#include <vector>

#include "jit/emit/state.h"

namespace tunec::jit {

/// How many copies of the unrolled loop being emitted, from this one on, read this offset and its
/// successors in turn: a power of two, at most the lanes of the vector loop inside; 0 for too few.
/// `here`: the offset in the copy being emitted.
int CopiesThatReadNeighbours(EmitState& state, const IndexExpr& offset, const LinearIndex& here);

/// A block, a vector a row: rows become columns. Powers of two; no longer rows than there are rows.
std::vector<IrValue> Transpose(Builder& builder, std::vector<IrValue> rows);

}  // namespace tunec::jit
