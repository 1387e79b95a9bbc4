// The roundings that the accuracy contract permits to a schedule.
#pragma once

#include "ir/loop_nest.h"
#include "polyhedral/legality/legality.h"

namespace tunec {

struct RoundingFreedom {
  RoundingFreedom(ReductionOrder of_reductions)  // NOLINT: most contracts give only the order
      : order(of_reductions) {}
  ReductionOrder order;
  /// Least number of bfloat16 parts into which `precision` may split a float32 operand, if the
  /// contract permits a split. Three parts are as accurate as float32, two parts have 16 bits, one
  /// part has 8.
  int min_bf16_parts = 3;
  /// True if float32 operands of a product may be rounded to TF32, which has a 10-bit fraction.
  bool tf32_operands = false;
  /// Largest permitted error of a sum of products, relative to the sum of the magnitudes of the
  /// products. The bound is only for computations that lose more accuracy than a reordering of the
  /// sum, such as Winograd convolutions.
  double allowed_error = 0;
  /// Returns kFused if sums may be regrouped, otherwise kSeparate.
  Contraction contraction() const {
    return order == ReductionOrder::kAny ? Contraction::kFused : Contraction::kSeparate;
  }
};

}  // namespace tunec
