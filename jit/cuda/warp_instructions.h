// Lists of mma.sync and ldmatrix instructions, with their intrinsics of LLVM. The emitter for GPUs
// and the emulation use the same lists.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tunec::jit {

/// An mma.sync instruction for an entry of ir/tile_intrinsic.h. Its operands are registers of the
/// left operand, the right operand and the accumulator; its results are registers of the
/// accumulator.
struct WarpInstruction {
  std::string_view tile;   // name of the entry
  unsigned id = 0;         // llvm::Intrinsic::ID
  bool of_halves = false;  // an operand's register is <2 x half>, else i32
};

/// An ldmatrix instruction. It loads two or four matrices of eight rows of 16 bytes, optionally
/// transposed.
struct MatrixLoadInstruction {
  unsigned id = 0;  // llvm::Intrinsic::ID
  int32_t matrices = 0;
  bool transposed = false;
};

std::span<const WarpInstruction> WarpInstructions();
std::span<const MatrixLoadInstruction> MatrixLoadInstructions();

}  // namespace tunec::jit
