// Checks that a kernel's outputs meet the accuracy mode.
//
// The error of an output is e = max|y - y64| / scale. In a group with a contraction the scale is
// the larger of max sum|a*b| over the last contraction's elements and max|y64|. In other groups it
// is max|y64| of that output. The tolerance of e depends on the accuracy mode:
//   - exact: the error of the sequential evaluation in the compute's own types.
//   - f32: 1.5 times that error. Another order of a sum is equally valid. With few results, or
//     results of very different size, the largest error may be greater by luck.
//   - tf32, bf16: the error of the sequential evaluation with rounded operands, or that of
//     operands in two bfloat16 limbs if it is larger. Three tolerances of order_tolerance.h are
//     added: for another order of the sums, for flushing of small numbers, and for other roundings
//     of operands that are sums.
//   - a number: that number.
// In groups with a contraction, one unit in the last place of the scale is added. So reductions of
// few terms do not fail by bad luck. Other groups may have twice the sequential error, and at least
// the sum of their functions' documented errors. Results stored in 16 bits may differ by one
// rounding. Integers and bools must be exact wherever the sequential evaluation is. If the float64
// result is not finite, the output must be the same infinity or NaN.
// After steps (round, floor, casts to integers, comparisons) an error that is allowed before the
// step may move an element farther: `bounds` (error_bounds.h). The bound is subtracted from the
// difference, and the rest is checked.
// A wrong result is recorded permanently. A change of these rules needs a migration in
// db/tables/schema.cc that deletes the recorded wrong results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// The expected values and tolerance of one output of a workload, made by ComputeKernelReference.
struct OutputChecker {
  std::string name;
  Array expected;      // y64 (integers: exact value), logical row-major
  Array sequential;    // sequential evaluation, in the output's own type
  Array bounds;        // f64: allowed distance of each element from y64 due to steps; empty: 0
  double scale = 1;    // > 0
  double allowed = 0;  // tolerance of e
};

/// Returns the largest relative error of a function (exp, tanh, ...) in compiled code; 0 for
/// correctly rounded operators.
double FunctionError(ScalarOp op);
/// Returns the relative error that the functions in a compute may cause.
double FunctionError(const Compute& compute);

/// Returns the largest magnitude of the array's finite elements; 0 if none is finite.
double LargestFinite(const Array& array);

/// The error e, and the first element that differs from the expected one in kind: a NaN, an
/// infinity, an integer.
struct MeasuredError {
  double e = 0;
  int64_t worst = -1;       // element of largest error
  int64_t wrong_kind = -1;  // -1: none
};
/// Measures the error of an output. `actual` has the shape of the output. `counted` selects the
/// elements that are checked; empty: all.
MeasuredError MeasureError(const Array& actual, const OutputChecker& checker,
                           const std::vector<bool>& counted = {});

/// Numbers of a group's last contraction for its tolerance.
struct ContractionScale {
  double magnitude = 0;  // max sum|a*b|
  double flushed = 0;    // largest error by flushing (order_tolerance.h)
  double rounded = 0;    // largest error by other roundings of computed operands
};
/// Sets `scale` and `allowed` of every output. Requires: `expected` and `sequential` are set.
/// `contraction` is present for groups with a contraction.
void SetTolerances(std::vector<OutputChecker>& checkers, const Compute& compute,
                   const std::optional<ContractionScale>& contraction, const Accuracy& accuracy);

/// The result of checking all outputs of one run.
struct Verdict {
  double e = 0;         // largest error of all outputs
  std::string problem;  // first violation; empty if the accuracy mode is met
};
/// Checks the outputs. `counted` selects the elements of each output that are checked; empty: all.
Verdict CheckOutputs(const std::vector<Array>& actual, const std::vector<OutputChecker>& checkers,
                     const std::vector<std::vector<bool>>& counted = {});

}  // namespace tunec
