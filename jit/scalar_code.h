// The code for each scalar operator, in numbers: what a judge allows it, and how it fills a loop.
#pragma once

#include "ir/expr/scalar_op.h"

namespace tunec::jit {

struct ScalarCode {
  ScalarOp op;
  /// How far a float32 result may be off, in units of 2^-23 of the result, as measured of the code
  /// (jit/math/ says so for each); 0: it is rounded once, as is what is computed in float64. Other
  /// types come from these or are more exact.
  double error;
  /// Roughly its instructions, beside 1 for a sum: a vector loop over few of them has several
  /// vectors in flight. Of rare functions 1, too.
  int operations;
};
const ScalarCode& CodeOf(ScalarOp op);

}  // namespace tunec::jit
