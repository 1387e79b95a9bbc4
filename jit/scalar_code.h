// Accuracy and size of the code for each scalar operator. Checkers derive tolerances from the
// accuracy; the emitter uses the size to choose the number of vectors that a loop computes at once.
#pragma once

#include "ir/expr/scalar_op.h"

namespace tunec::jit {

struct ScalarCode {
  ScalarOp op;
  /// Largest error of a float32 result, in units of 2^-23 of the result, as measured (stated in
  /// jit/math/). 0: the result is the exact value, rounded once. The errors of other types can be
  /// derived from this error or are smaller.
  double error;
  /// Approximate number of instructions; an addition has 1. A vector loop over few instructions
  /// keeps several vectors in flight. Rarely used functions have 1, too.
  int operations;
};
const ScalarCode& CodeOf(ScalarOp op);

}  // namespace tunec::jit
