// The arithmetic of a kernel: the instruction that does the largest part of the multiply-adds. The
// kernel is compared with the ceiling of that instruction.
#pragma once

#include <optional>

#include "autotune/measure/mac_instruction.h"
#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

struct KernelArithmetic {
  const MacInstruction* by = nullptr;  // never null
  /// Number of the instruction's multiply-adds per multiply-add of the lowering. The number is 6 if
  /// each operand is split into three limbs, and 0.5 if another instruction does half of the work.
  double work = 1;
  bool operator==(const KernelArithmetic&) const = default;
};

/// Returns the arithmetic of a lowering under its schedule, as if all tiles were full. The result
/// depends on the statements after the compute steps and on the intrinsics of `tensorize`; no loops
/// are made. Among instructions that do equally many multiply-adds, the first one in statement
/// order is taken. For a kernel without multiply-adds, returns the plain multiply-adds of the float
/// type that most of its operations have, since no other instruction does these operations faster.
/// Returns none if most multiply-adds are of integers without an intrinsic, for kernels without
/// multiply-adds and operations of floats, and for devices (all MacInstructions are for CPUs).
std::optional<KernelArithmetic> ArithmeticOf(const Compute& lowering, const Schedule& schedule,
                                             const Target& target);

}  // namespace tunec
