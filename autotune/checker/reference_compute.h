// Functions that make a candidate's reference Computes: the same statements in float64, and the
// magnitudes for errors of contractions. The layouts of the candidate are removed, so that the
// check does not depend on them.
#pragma once

#include <optional>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "schedule/schedule.h"

namespace tunec {

/// Returns the compute with f64 for every float tensor, literal and cast; integers are unchanged.
/// Layouts, aliases and alignments are removed. A native evaluation of the result is equal to
/// Interpret with Precision::kFloat64.
Compute PromoteToFloat64(const Compute& compute);
Expr PromoteToFloat64(const Expr& expr);

/// Returns the compute with row-major tensors of the same types, without aliases and alignments.
Compute WithoutLayouts(const Compute& compute);

/// Returns the compute with other layouts. One independent iterator of the statement with the most
/// instances is contiguous in the tensors that it indexes. Returns an unchanged copy if no iterator
/// is suitable. Only the speed of a plain schedule depends on the layouts. Requires: the compute
/// has no layouts.
Compute WithContiguousIterator(const Compute& compute);

/// Returns the last statement that is a float contraction, or none. A contraction is a sum of
/// products of two different expressions. A sum of squares is not one, since its terms cannot
/// cancel.
std::optional<StatementId> LastContraction(const Compute& compute);

/// Returns the name of the output tensor that WithMagnitudes adds for a tensor of sums.
std::string MagnitudeTensor(const std::string& sums);
/// Returns the compute with a new output for each of these sums, the sum of its terms' magnitudes.
///   before: acc[i,j] sum= a[i,k] * b[k,j]
///   after:  acc[i,j] sum= a[i,k] * b[k,j]; acc.magnitude[i,j] sum= abs(a[i,k] * b[k,j])
Compute WithMagnitudes(const Compute& compute, const std::vector<StatementId>& sums);

/// Returns the name of the output tensor that WithSquares adds for a tensor of sums.
std::string SquaresTensor(const std::string& sums);
/// Returns the compute with a new output, the sum of the squares of one sum's terms. In the example
/// of WithMagnitudes the new statement is
///   acc.squares[i,j] sum= (a[i,k] * b[k,j]) * (a[i,k] * b[k,j])
Compute WithSquares(const Compute& compute, StatementId sum);

/// Returns a plain schedule that is legal for any Compute: each statement has separate loops.
/// Vectors are along an iterator with many values and contiguous accesses. Tasks are iterations of
/// up to two loops over this iterator's blocks and other iterators. Instances with different values
/// of these iterators write different elements, and do not read each other's elements. Each element
/// is accumulated in the order of the iterators as written.
Schedule PlainSchedule(const Compute& compute);
/// Returns the loops of PlainSchedule. The schedule is legal by construction, so dependences are
/// not computed; that would take longer than the evaluation. A test checks the schedule against
/// them.
Result<LoopNest> PlainLoops(const Compute& compute, Contraction contraction);

}  // namespace tunec
