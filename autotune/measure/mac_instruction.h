// Arithmetics: what can do a kernel's multiply-adds on a CPU, by type and instruction. Each has a
// ceiling of its own (roofline.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/data_type.h"
#include "ir/target.h"
#include "ir/tile_intrinsic.h"

namespace tunec {

/// One multiply-accumulate (MAC) instruction: plain vector instructions of one float type, or an
/// entry of the table of tile intrinsics.
struct MacInstruction {
  std::string name;  // "fma.f32", "fma.f64", or the tile intrinsic's: "amx.bf16"
  DataType operand = DataType::kF32;
  DataType accumulator = DataType::kF32;
  const TileIntrinsic* intrinsic = nullptr;  // null: plain instructions
};

/// All that the code generator emits for CPUs, that of f32 first. They live as long as the program.
/// A tile intrinsic of one type throughout (fma.avx512) is that type's plain instruction. Integers
/// have tile intrinsics only: which plain instructions multiply them depends on their ranges.
std::span<const MacInstruction> MacInstructions();

/// The fused multiply-add of f32.
const MacInstruction& Float32Fma();
/// The one of that name; null when there is none.
const MacInstruction* FindMac(std::string_view name);
/// What multiplies and adds numbers of the type on the host: f16 and bf16 are computed in f32.
/// Null: integers.
const MacInstruction* PlainMac(DataType type);
/// What a tile of the intrinsic is done by; null for those that are not of a CPU.
const MacInstruction* MacOf(const TileIntrinsic& intrinsic);

/// The features that the target lacks for it; of a device, "a cpu".
std::vector<std::string> MissingFeatures(const MacInstruction& by, const Target& target);

/// Those that the target has.
std::vector<const MacInstruction*> MacInstructionsOf(const Target& target);

/// "f64 multiply-adds", "bf16 multiply-adds (amx.bf16)".
std::string Describe(const MacInstruction& by);

}  // namespace tunec
