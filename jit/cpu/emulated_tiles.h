// An emulation of AMX, with tile registers in memory and vector code for the instructions.
#pragma once

#include <memory>

#include "jit/cpu/tile_registers.h"

namespace tunec::jit {

/// Creates emulated tile registers for targets with AVX-512. Results other than NaN equal those of
/// the table in ir/tile_intrinsic.cc bit by bit (docs/decisions/0023_emulated_amx.md).
std::unique_ptr<TileRegisters> MakeEmulatedTiles();

}  // namespace tunec::jit
