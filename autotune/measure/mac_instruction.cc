#include "autotune/measure/mac_instruction.h"

#include <fmt/format.h>

#include <algorithm>

namespace tunec {
namespace {

bool IsOfOneType(const TileIntrinsic& intrinsic) {
  return intrinsic.left.type == intrinsic.right.type &&
         intrinsic.left.type == intrinsic.accumulator.type;
}

MacInstruction Plain(DataType type) {
  return {.name = fmt::format("fma.{}", Name(type)), .operand = type, .accumulator = type};
}

std::vector<MacInstruction> MakeAll() {
  std::vector<MacInstruction> all = {Plain(DataType::kF32), Plain(DataType::kF64)};
  for (const TileIntrinsic& intrinsic : TileIntrinsics()) {
    if (intrinsic.target != "cpu" || IsOfOneType(intrinsic)) continue;
    all.push_back({intrinsic.name, intrinsic.left.type, intrinsic.accumulator.type, &intrinsic});
  }
  return all;
}

}  // namespace

std::span<const MacInstruction> MacInstructions() {
  // Never destroyed: tuning in the background may use it during the end of the process.
  static const auto& all = *new std::vector<MacInstruction>(MakeAll());
  return all;
}

const MacInstruction& Float32Fma() { return MacInstructions().front(); }

const MacInstruction* FindMac(std::string_view name) {
  const auto found = std::ranges::find(MacInstructions(), name, &MacInstruction::name);
  return found == MacInstructions().end() ? nullptr : &*found;
}

const MacInstruction* PlainMac(DataType type) {
  if (!IsFloat(type)) return nullptr;
  const DataType computed = type == DataType::kF64 ? type : DataType::kF32;
  const auto found = std::ranges::find_if(MacInstructions(), [&](const MacInstruction& by) {
    return by.intrinsic == nullptr && by.operand == computed;
  });
  return &*found;
}

const MacInstruction* MacOf(const TileIntrinsic& intrinsic) {
  if (intrinsic.target != "cpu") return nullptr;
  if (IsOfOneType(intrinsic)) return PlainMac(intrinsic.accumulator.type);
  return FindMac(intrinsic.name);
}

std::vector<std::string> MissingFeatures(const MacInstruction& by, const Target& target) {
  if (by.intrinsic != nullptr) return MissingFeatures(*by.intrinsic, target);
  if (target.device) return {"a cpu"};
  return {};
}

std::vector<const MacInstruction*> MacInstructionsOf(const Target& target) {
  std::vector<const MacInstruction*> of_target;
  for (const MacInstruction& by : MacInstructions()) {
    if (MissingFeatures(by, target).empty()) of_target.push_back(&by);
  }
  return of_target;
}

std::string Describe(const MacInstruction& by) {
  const std::string what = fmt::format("{} multiply-adds", Name(by.operand));
  return by.intrinsic == nullptr ? what : fmt::format("{} ({})", what, by.name);
}

}  // namespace tunec
