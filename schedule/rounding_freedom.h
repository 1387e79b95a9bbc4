// Which roundings the accuracy contract leaves to a schedule.
#pragma once

#include "ir/loop_nest.h"
#include "polyhedral/legality/legality.h"

namespace tunec {

struct RoundingFreedom {
  RoundingFreedom(ReductionOrder of_reductions)  // NOLINT: all that most contracts say
      : order(of_reductions) {}
  ReductionOrder order;
  /// The bfloat16 terms that `precision` must keep of a float32, where operands may be split at
  /// all: three are as accurate as float32, two have 16 bits, one has 8.
  int least_terms = 3;
  /// Whether float32 operands of a product may be rounded to TF32, which has ten bits of fraction.
  bool tf32_operands = false;
  /// How far a sum of products may be off, relative to the sum of their magnitudes, where another
  /// way to compute it loses more than another order of it does.
  double allowed_error = 0;
  /// Where sums may be regrouped, a product may also be fused into its sum.
  Contraction contraction() const {
    return order == ReductionOrder::kAny ? Contraction::kFused : Contraction::kSeparate;
  }
};

}  // namespace tunec
