// An emulation of AMX, with tile registers in memory and vector code for the instructions.
#pragma once

#include <memory>

#include "jit/cpu/tile_registers.h"

namespace tunec::jit {

/// Creates emulated tile registers for targets with AVX-512. Results equal the definitions in the
/// table of tile intrinsics bit by bit (ir/tile_intrinsic.cc, docs/decisions/0023_emulated_amx.md).
std::unique_ptr<TileRegisters> MakeEmulatedTiles();

}  // namespace tunec::jit
