// Instructions of x86, as functions on a Builder.
#pragma once

#include "jit/builder/builder.h"

namespace tunec::jit {

// --- Dot products. The left and right operands are vectors of i32, whose lanes are groups of
// elements. Lane i of the result is lane i of c plus the products of the groups in lane i. ---
IrValue X86DotBFloat16(Builder& b, IrValue c, IrValue left, IrValue right);  // pairs, c is f32
/// Multiplies groups of four elements, u8 times i8; c is i32.
IrValue X86DotUnsignedSigned(Builder& b, IrValue c, IrValue left, IrValue right);

/// Rounds vectors of a multiple of 16 lanes from f32 to the bits of bfloat16; denormals become 0.
IrValue X86RoundToBFloat16(Builder& b, IrValue value);

/// Returns whether X86ScaleByPower supports vectors of this type. Such vectors fill 1, 2, 4, ...
/// registers of 512 bits. Requires: the elements are f32 or f64.
bool X86ScalesByPower(IrType type);
/// Emits value * 2^power by VSCALEFPS or VSCALEFPD.
IrValue X86ScaleByPower(Builder& b, IrValue value, IrValue power);

// --- tile registers 0 to 7 of the AMX extension ---
void X86TileConfigure(Builder& b, IrValue configuration);
void X86TileRelease(Builder& b);
void X86TileLoad(Builder& b, int tile, IrValue pointer, int64_t row_bytes);
void X86TileStore(Builder& b, int tile, IrValue pointer, int64_t row_bytes);
void X86TileDotBFloat16(Builder& b, int c, int left, int right);        // c is f32
void X86TileDotUnsignedSigned(Builder& b, int c, int left, int right);  // u8 times i8, c is i32

/// Emits a fence that orders non-temporal stores before the stores that follow.
void X86StoreFence(Builder& b);

}  // namespace tunec::jit
