// The instructions that a warp executes together, as LLVM knows them: what writes them for a GPU
// and what emulates them read the same lists.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tunec::jit {

/// mma.sync of an entry of ir/tile_intrinsic.h: registers of the left operand, of the right one and
/// of the accumulator to registers of the accumulator.
struct WarpInstruction {
  std::string_view tile;   // the entry
  unsigned id = 0;         // llvm::Intrinsic::ID
  bool of_halves = false;  // an operand's register is <2 x half>, else i32
};

/// ldmatrix: two or four matrices of eight rows of 16 bytes, as they lie or the other way round.
struct MatrixLoadInstruction {
  unsigned id = 0;  // llvm::Intrinsic::ID
  int32_t matrices = 0;
  bool transposed = false;
};

std::span<const WarpInstruction> WarpInstructions();
std::span<const MatrixLoadInstruction> MatrixLoadInstructions();

}  // namespace tunec::jit
