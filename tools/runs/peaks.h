// The ceilings of arithmetics beside kernels that are being timed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "autotune/measure/kernel_arithmetic.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// Of float32 in any case.
class Peaks {
 public:
  /// The target must outlive this.
  explicit Peaks(const Target& target) : target_(target) { flops_[&Float32Fma()] = 0; }

  /// This one's too, from now on.
  void Add(const std::optional<KernelArithmetic>& arithmetic);
  /// Measures all that this machine can. The greater of several measurements counts. Errors:
  /// kInternal.
  Status Measure();

  /// Operations per second; 0 where it could not be measured. Requires: it was added.
  double Of(const MacInstruction& by) const { return flops_.at(&by); }
  /// The useful ones that an arithmetic allows a kernel; 0 where nothing says that.
  double For(const std::optional<KernelArithmetic>& arithmetic) const;
  /// "FMA peak 496 GFLOP/s, 1.2 TFLOP/s bf16 multiply-adds (amx.bf16)"
  std::string Text() const;

 private:
  const Target& target_;
  std::map<const MacInstruction*, double> flops_;  // elements of one table, so in its order
};

/// "FLOP/s", of integers "OP/s".
std::string RateUnit(const MacInstruction& by);

}  // namespace tunec
