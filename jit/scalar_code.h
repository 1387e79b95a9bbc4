// A table of the error and the size of the code for each scalar operator. Tolerances of checks
// depend on the error, and the number of vectors that a loop computes at once depends on the size.
#pragma once

#include "ir/expr/scalar_op.h"

namespace tunec::jit {

struct ScalarCode {
  ScalarOp op;
  /// Upper bound of the measured error of a float32 result, in units of 2^-23 of the result. 0: the
  /// result is the exact value, rounded once. The errors of other types can be derived from this
  /// error or are smaller.
  double error;
  /// Approximate number of instructions; an addition has 1. A vector loop over few instructions
  /// keeps several vectors in flight. Rarely used functions have 1, too.
  int operations;
};
const ScalarCode& CodeOf(ScalarOp op);

}  // namespace tunec::jit
