// A table of the instructions that can do a kernel's multiply-adds on a CPU. Such an instruction is
// called an arithmetic. Each arithmetic has a separate ceiling (roofline.h).
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
  std::string name;  // "fma.f32", "fma.f64", or a tile intrinsic: "amx.bf16"
  DataType operand = DataType::kF32;
  DataType accumulator = DataType::kF32;
  const TileIntrinsic* intrinsic = nullptr;  // null: plain instructions
};

/// Returns the table of multiply-add instructions for CPUs, with that of f32 first. The table is
/// valid until the program ends. A tile intrinsic with one type for operands and accumulator
/// (fma.avx512) has no entry, since it is the plain instruction of its type. Integers have only
/// tile intrinsics: which plain instructions multiply integers depends on the integers' ranges.
std::span<const MacInstruction> MacInstructions();

/// Returns the fused multiply-add of f32.
const MacInstruction& Float32Fma();
/// Returns the instruction with this name, or null.
const MacInstruction* FindMac(std::string_view name);
/// Returns the plain vector instruction that multiplies and adds numbers of this float type on a
/// CPU: fma.f64 for f64, fma.f32 for f32 and for f16 and bf16, which are converted to f32. Returns
/// null for integers and bools.
const MacInstruction* PlainMac(DataType type);
/// Returns the instruction of a tile intrinsic: the plain one if all its types are equal. Returns
/// null for intrinsics that are not for CPUs.
const MacInstruction* MacOf(const TileIntrinsic& intrinsic);

/// Returns the features that the target lacks for the instruction. For a device, the only element
/// is "a cpu".
std::vector<std::string> MissingFeatures(const MacInstruction& by, const Target& target);

/// Returns the instructions that the target has.
std::vector<const MacInstruction*> MacInstructionsOf(const Target& target);

/// Returns text such as "f64 multiply-adds" or "bf16 multiply-adds (amx.bf16)".
std::string Describe(const MacInstruction& by);

}  // namespace tunec
