// Tile intrinsics of the host: how each entry of the table is written.
#pragma once

#include <optional>

#include "ir/tile_intrinsic.h"
#include "jit/cpu/tile_registers.h"
#include "jit/emit/state.h"

namespace tunec::jit {

/// An instruction on vectors: c + a * b, where lanes of a and b are elements or groups of them.
using VectorInstruction = IrValue (*)(Builder& builder, IrValue c, IrValue a, IrValue b);

/// One of the two: an instruction on vectors, or a product of tile registers.
struct TileInstruction {
  VectorInstruction vectors = nullptr;
  std::optional<TileDot> tiles = {};
};

/// What an entry is on the host; null for those of other machines.
const TileInstruction* FindTileInstruction(const TileIntrinsic& intrinsic);

/// One left element (or group of neighbours, as the 32 bits that they are) for a vector of right
/// ones, in one instruction for all columns. It is emitted like a chunk of a vector loop, so that
/// accumulators in registers are their slots.
Status EmitVectorTile(EmitState& state, const TileParts& parts, VectorInstruction instruction);

}  // namespace tunec::jit
