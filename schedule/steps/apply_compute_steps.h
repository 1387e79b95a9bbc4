// The steps that rewrite a Compute's statements. Each Apply returns a new Compute that computes the
// same result, except for rounding, infinities and NaN. Apply fails with the reason if the step
// does not fit the Compute.
#pragma once

#include "ir/compute.h"
#include "polyhedral/legality/legality.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

Result<Compute> Apply(const Compute& compute, const PackStep& step);
Result<Compute> Apply(const Compute& compute, const CopyStep& step);
Result<Compute> Apply(const Compute& compute, const CacheWriteStep& step);
/// Fails with kIllegalSchedule if the order of the parts violates a dependence. The message names
/// the dependence.
Result<Compute> Apply(const Compute& compute, const IndexSplitStep& step,
                      ReductionOrder order = ReductionOrder::kAny);
Result<Compute> Apply(const Compute& compute, const ReduceSplitStep& step);
Result<Compute> Apply(const Compute& compute, const InlineStep& step);
Result<Compute> Apply(const Compute& compute, const PrecisionStep& step);
Result<Compute> Apply(const Compute& compute, const NarrowStep& step);
Result<Compute> Apply(const Compute& compute, const WidenStep& step);
Result<Compute> Apply(const Compute& compute, const HoistStep& step);
/// Fails with kIllegalSchedule if `order` is kAsWritten and an added instance may multiply 0 by an
/// infinity or NaN. The message says in which instances.
Result<Compute> Apply(const Compute& compute, const PadStep& step,
                      ReductionOrder order = ReductionOrder::kAny);

/// Returns the tensors of both factors if the statement is an f32 sum of products of two f32
/// elements. `precision` can split these tensors into several parts. Returns an empty list for any
/// other statement.
std::vector<TensorId> SplitOperands(const Statement& statement);

/// Adds iterators d0, d1, ... over the dimensions of the shape to the statement. Returns the index
/// of the element that these iterators select.
std::vector<IndexExpr> AddElementIterators(const std::vector<int64_t>& shape, Statement& statement);

/// Checks that an index consists of constants and different variables. Instances that differ in a
/// variable of a write's index then write different elements.
bool NamesDimensions(const std::vector<IndexExpr>& index);

/// Checks that the statement computes workspace from a constant, and can therefore run once at
/// compile time. `pack`, `precision` and `widen` make such statements for constant weights.
/// Lowerings that transform a weight contain such statements too.
bool IsMadeOfConstant(const Compute& compute, const Statement& statement);

/// Returns the Compute without tensors that no statement accesses; outputs are retained.
Compute RemoveUnusedTensors(const Compute& compute);

}  // namespace tunec
