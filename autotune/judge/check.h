// Whether a kernel's outputs meet the accuracy contract.
//
// The error of an output is e = max|y - y64| / scale. In a group with a contraction the scale is
// the larger of max sum|a*b| over the last contraction's elements and max|y64|; elsewhere it is
// max|y64| of that output. What e may be follows from the accuracy:
//   exact         the error of the sequential evaluation in the compute's own types
//   f32           half as much again: another order of a sum is as good, and of few results, or
//                 such as differ much in size, the largest error is that much greater by luck
//   tf32, bf16    the error of that evaluation with operands rounded first, or that of operands in
//                 two bfloat16 terms where it is larger; and what another order of the sums and the
//                 flushing of small numbers may add, and other roundings of operands that are sums
//                 themselves (order_allowance.h)
//   a number      that number
// In groups with a contraction a unit in the last place of the scale is added, so that reductions
// of few terms do not fail on luck; other groups may have twice the sequential error, and at least
// what their functions' documented errors add up to. Results stored in 16 bits may differ by a
// rounding. Integers and bools must be exact wherever the sequential evaluation is. Where the
// float64 result is not finite, the output has to be the same infinity or NaN.
// Behind steps (round, floor, casts to integers, comparisons) an element may also be where an
// error that is allowed in front of the step carries it: `bounds` (error_bounds.h). What is judged
// is what remains of the difference.
// A wrong result is recorded for good. Whoever changes what is right appends a migration to
// db/tables/schema.cc that forgets those recorded before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// What the outputs of a workload are judged by; made by the oracle, one entry per output.
struct OutputJudge {
  std::string name;
  Array expected;      // y64 (integers: the exact value), logical row-major
  Array sequential;    // of the output's own type
  Array bounds;        // f64: how far steps may carry each element from y64; none: 0
  double scale = 1;    // > 0
  double allowed = 0;  // of e
};

/// The largest relative error of a function (exp, tanh, ...) in compiled code; 0 for operators that
/// are rounded correctly.
double FunctionError(ScalarOp op);
/// The error that the functions in a compute may bring in, relative.
double FunctionError(const Compute& compute);

/// The largest magnitude of the array's finite elements; 0 of none.
double LargestFinite(const Array& array);

/// e, and the first element where the outputs differ from what is expected in kind: a NaN, an
/// infinity, an integer. Both arrays have the judge's shape.
struct MeasuredError {
  double e = 0;
  int64_t worst = -1;       // the element of largest error
  int64_t wrong_kind = -1;  // -1: none
};
/// `judged` says which elements count; empty: all.
MeasuredError MeasureError(const Array& actual, const OutputJudge& judge,
                           const std::vector<bool>& judged = {});

/// What the last contraction of a group tells of its errors.
struct ContractionScale {
  double magnitude = 0;  // max sum|a*b|
  double flushed = 0;    // what flushing may take from a sum (order_allowance.h)
  double rounded = 0;    // what other roundings of computed operands may make of it
};
/// Sets `scale` and `allowed` of every judge, whose `expected` and `sequential` are there.
/// `contraction`: of groups with one.
void SetAllowances(std::vector<OutputJudge>& judges, const Compute& compute,
                   const std::optional<ContractionScale>& contraction, const Accuracy& accuracy);

/// The verdict on all outputs of one run.
struct Verdict {
  double e = 0;         // the largest of all outputs
  std::string problem;  // empty when the contract is met
};
/// `judged`: for each output, which of its elements count; empty: all of all.
Verdict JudgeOutputs(const std::vector<Array>& actual, const std::vector<OutputJudge>& judges,
                     const std::vector<std::vector<bool>>& judged = {});

}  // namespace tunec
