// Which arithmetic a kernel is judged by: what does most of its multiply-adds.
#pragma once

#include <optional>

#include "autotune/measure/mac_instruction.h"
#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

struct KernelArithmetic {
  const MacInstruction* by = nullptr;  // never null
  /// Multiply-adds that it does for each of the lowering's: 6 where operands are split into three
  /// terms each, a half where something else does the other half.
  double work = 1;
  bool operator==(const KernelArithmetic&) const = default;
};

/// The arithmetic of a lowering under a schedule of it, whose tiles are taken to be all whole. By
/// what the compute steps leave of the lowering's statements and by the intrinsics of `tensorize`;
/// no loops are made. Of equal shares the first statement's counts. A kernel without multiply-adds
/// is judged by those of the float type that most of its operations are in, for nothing does more.
/// None: integers by themselves, what only moves data, and whatever a device computes, for all
/// MacInstructions are a CPU's.
std::optional<KernelArithmetic> ArithmeticOf(const Compute& lowering, const Schedule& schedule,
                                             const Target& target);

}  // namespace tunec
