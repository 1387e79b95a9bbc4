// A table of the host's instructions for tile intrinsics, and the emission of vector instructions.
#pragma once

#include <optional>

#include "ir/tile_intrinsic.h"
#include "jit/cpu/tile_registers.h"
#include "jit/emit/state.h"

namespace tunec::jit {

/// A function that emits c + a * b for a vector c. The lanes of a and b are elements or groups of
/// elements.
using VectorInstruction = IrValue (*)(Builder& builder, IrValue c, IrValue a, IrValue b);

/// The computation of a tile intrinsic on the host. It is either an instruction on vectors, with
/// empty `tiles`, or a product of tile registers, with null `vectors`.
struct TileInstruction {
  VectorInstruction vectors = nullptr;
  std::optional<TileDot> tiles = {};
};

/// Returns the instruction for an entry of the table. Returns null for entries of other targets.
const TileInstruction* FindTileInstruction(const TileIntrinsic& intrinsic);

/// Emits a tile that multiplies one left element with a vector of right elements, with one
/// instruction for all columns. An element may be a group of consecutive elements, 32 bits in all.
/// Columns are lanes as in a vector loop's chunk, so accumulators in registers can be slots.
Status EmitVectorTile(EmitState& state, const TileParts& parts, VectorInstruction instruction);

}  // namespace tunec::jit
