// A class that measures the ceilings of arithmetics, before and after kernels are timed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "autotune/measure/kernel_arithmetic.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// A set of arithmetics and their measured peaks; float32 is always included.
class Peaks {
 public:
  /// Requires: the target outlives this object.
  explicit Peaks(const Target& target) : target_(target) { flops_[&Float32Fma()] = 0; }

  /// Adds the arithmetic, if there is one, to the set.
  void Add(const std::optional<KernelArithmetic>& arithmetic);
  /// Measures the arithmetics of the set, except those that this machine cannot measure. The
  /// maximum of several calls counts. Errors: kInternal.
  Status Measure();

  /// Returns operations per second; 0 if not measured. Requires: the arithmetic was added.
  double Of(const MacInstruction& by) const { return flops_.at(&by); }
  /// Returns the limit of useful operations per second of a kernel's arithmetic; 0 if unknown.
  /// Requires: the arithmetic was added, if there is one.
  double For(const std::optional<KernelArithmetic>& arithmetic) const;
  /// Returns a text such as "FMA peak 496 GFLOP/s, 1.2 TFLOP/s bf16 multiply-adds (amx.bf16)".
  std::string Text() const;

 private:
  const Target& target_;
  std::map<const MacInstruction*, double>
      flops_;  // keys are elements of one table, so pointers have its order
};

/// Returns "FLOP/s", or "OP/s" for integers.
std::string RateUnit(const MacInstruction& by);

}  // namespace tunec
