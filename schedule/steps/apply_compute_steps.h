// The steps that rewrite a Compute's statements. Each returns a new Compute that computes the same
// result (reductions regrouped), or the reason why the step does not apply.
#pragma once

#include "ir/compute.h"
#include "polyhedral/legality/legality.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

Result<Compute> Apply(const Compute& compute, const PackStep& step);
Result<Compute> Apply(const Compute& compute, const CopyStep& step);
Result<Compute> Apply(const Compute& compute, const CacheWriteStep& step);
/// Errors: also kIllegalSchedule, with the dependence that the order of the parts violates.
Result<Compute> Apply(const Compute& compute, const IndexSplitStep& step,
                      ReductionOrder order = ReductionOrder::kAny);
Result<Compute> Apply(const Compute& compute, const ReduceSplitStep& step);
Result<Compute> Apply(const Compute& compute, const InlineStep& step);
Result<Compute> Apply(const Compute& compute, const PrecisionStep& step);
Result<Compute> Apply(const Compute& compute, const NarrowStep& step);
Result<Compute> Apply(const Compute& compute, const WidenStep& step);
Result<Compute> Apply(const Compute& compute, const HoistStep& step);
/// Errors: also kIllegalSchedule, with a condition of the domain, if the operands outside of the
/// condition may not be multiplied by 0.
Result<Compute> Apply(const Compute& compute, const PadStep& step,
                      ReductionOrder order = ReductionOrder::kAny);

/// Returns the f32 tensors whose elements the statement multiplies and sums up. `precision` splits
/// them into several terms. Returns an empty list for any other statement.
std::vector<TensorId> SplitOperands(const Statement& statement);

/// Adds an iterator for each dimension, d0, d1, ..., to the statement. Returns the index of the
/// element at these iterators.
std::vector<IndexExpr> AddElementIterators(const std::vector<int64_t>& shape, Statement& statement);

/// Checks that an index consists of constants and different iterators. Instances that differ in a
/// written iterator then write different elements.
bool NamesDimensions(const std::vector<IndexExpr>& index);

/// Checks that the statement computes workspace from a constant, and so runs once at compile time.
/// Only statements that `pack`, `precision` and `widen` make of arguments do so.
bool IsMadeOfConstant(const Compute& compute, const Statement& statement);

/// Returns the Compute without unused tensors; outputs are retained.
Compute RemoveUnusedTensors(const Compute& compute);

}  // namespace tunec
