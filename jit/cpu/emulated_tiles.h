// AMX where there is none: tile registers in memory, their instructions as vector code.
#pragma once

#include <memory>

#include "jit/cpu/tile_registers.h"

namespace tunec::jit {

/// For targets with AVX-512. What comes out is the table's meaning to the bit
/// (ir/tile_intrinsic.cc, docs/decisions/0023_emulated_amx.md).
std::unique_ptr<TileRegisters> MakeEmulatedTiles();

}  // namespace tunec::jit
