// Checks that a kernel's outputs meet the accuracy mode.
//
// The error of an output y is e = max|y - y64| / scale, where y64 is the float64 result. In a group
// with a contraction the scale is the larger of max sum|a*b| over the last contraction's elements
// and max|y64|. In other groups it is max|y64| of that output. These maxima skip infinities and
// NaN; a scale of 0 becomes 1. The tolerance of e is
//   - in mode kBound: the bound;
//   - in modes tf32 and bf16, if the last contraction multiplies float32: the error of the
//     sequential evaluation with rounded operands, or the error of operands in two bfloat16 limbs
//     if that is larger. Three tolerances of order_tolerance.h are added: for another order of the
//     sums, for flushing of small numbers, and for other roundings of operands made from sums;
//   - in other groups with a contraction: the error of the sequential evaluation in the compute's
//     own types. In mode f32 it is multiplied by 1.5: another order of a sum is equally valid, and
//     its largest error may be greater by chance, above all with few results. One unit in the last
//     place of the scale is added, so that reductions of few terms do not fail by chance;
//   - in groups without a contraction: twice the sequential error, and at least 1e-6 plus the
//     error that the group's functions may cause (FunctionError).
// The tolerance of 16-bit floats is larger by one rounding to their type. Integers and bools must
// equal the exact result or that of the sequential evaluation. If the float64 result is infinite or
// NaN, the output must be the same. If a finite result rounds to an infinity in the output's type,
// this infinity is also correct.
// A small error before a step (round, floor, casts to integers, comparisons) may move an element by
// a whole step. `bounds` (error_bounds.h) has this distance for each element. The checker subtracts
// it from the difference and checks the rest. For integers and bools, a difference within the bound
// is correct.
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

/// The expected values and tolerance of one output of a workload (kernel_reference.h).
struct OutputChecker {
  std::string name;
  Array expected;      // y64 (integers: exact value), logical row-major
  Array sequential;    // sequential evaluation, in the output's own type
  Array bounds;        // f64: distance from y64 that steps allow each element; empty: no steps
  double scale = 1;    // > 0
  double allowed = 0;  // tolerance of e
};

/// Returns the largest relative error of a float32 function (exp, tanh, ...) in compiled code; 0
/// for correctly rounded operators.
double FunctionError(ScalarOp op);
/// Returns the relative error that the functions in a compute may cause, at most 1e-5.
double FunctionError(const Compute& compute);

/// Returns the largest magnitude of the array's finite elements; 0 if none is finite.
double LargestFinite(const Array& array);

/// The error e, and the first element of a wrong kind: an unexpected or missing NaN or infinity, or
/// a wrong integer. For integers e is 0. If a float of a wrong kind is found, e is also 0, because
/// the elements after it are not measured.
struct MeasuredError {
  double e = 0;
  int64_t worst = -1;       // element of largest error; -1: none
  int64_t wrong_kind = -1;  // -1: none
};
/// Measures the error of an output. `actual` has the shape of the output. `counted` selects the
/// elements that are checked; empty: all.
MeasuredError MeasureError(const Array& actual, const OutputChecker& checker,
                           const std::vector<bool>& counted = {});

/// The magnitude and absolute errors of a group's last contraction, from which SetTolerances
/// computes the tolerances.
struct ContractionScale {
  double magnitude = 0;  // max sum|a*b|
  double flushed = 0;    // largest error by flushing (order_tolerance.h)
  double rounded = 0;    // largest error by other roundings of computed operands
};
/// Sets `scale` and `allowed` of every float output. Requires: the other members are set.
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
