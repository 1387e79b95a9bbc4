// The Computes that judge a candidate: the same statements in float64, and the magnitudes that
// errors of contractions are measured by. Tensors are logical row-major here, whatever their
// layout, so that the judge shares no layout with the judged.
#pragma once

#include <optional>

#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "schedule/schedule.h"

namespace tunec {

/// Every float tensor, literal and cast becomes f64; integers stay. Layouts and aliases are
/// dropped. Evaluated natively it is what Interpret calls Precision::kFloat64.
Compute PromoteToFloat64(const Compute& compute);
Expr PromoteToFloat64(const Expr& expr);

/// The compute with row-major tensors of its own types.
Compute WithoutLayouts(const Compute& compute);

/// Lays the tensors of the statement with the most instances out so that one of its independent
/// iterators is contiguous in all of them. Only the speed of a plain schedule depends on it.
/// Requires: no layouts.
Compute WithContiguousIterator(const Compute& compute);

/// The last statement that is a float contraction: a sum whose body is a product of two different
/// things (a sum of squares is not: nothing cancels in it).
std::optional<StatementId> LastContraction(const Compute& compute);

/// The name of the output tensor that WithMagnitudes adds for a tensor of sums.
std::string MagnitudeTensor(const std::string& sums);
/// Adds for each of these sums an output that receives the sum of its terms' magnitudes.
///   before: acc[i,j] sum= a[i,k] * b[k,j]
///   after:  that; acc.magnitude[i,j] sum= abs(a[i,k] * b[k,j])
Compute WithMagnitudes(const Compute& compute, const std::vector<StatementId>& sums);

/// The same for the squares of one sum's terms.
///   after:  acc.squares[i,j] sum= (a[i,k] * b[k,j]) * (a[i,k] * b[k,j])
std::string SquaresTensor(const std::string& sums);
Compute WithSquares(const Compute& compute, StatementId sum);

/// A plain schedule that any Compute admits: each statement in its own loops, vectors along the
/// iterator whose accesses are most nearly contiguous, tasks over two others; both only where each
/// value of the iterator writes elements of its own and reads none of the others'. Each element is
/// accumulated in the order of the iterators as written.
Schedule PlainSchedule(const Compute& compute);
/// The loops of that schedule. It is legal by construction, so no dependences are computed, which
/// would take longer than the evaluation; a test holds it against them.
Result<LoopNest> PlainLoops(const Compute& compute, Contraction contraction);

}  // namespace tunec
