// The steps that rewrite a Compute's statements. Each returns a new Compute that computes the
// same (reductions regrouped), or says why the step makes no sense there.
#pragma once

#include "ir/compute.h"
#include "polyhedral/legality/legality.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

Result<Compute> Apply(const Compute& compute, const PackStep& step);
Result<Compute> Apply(const Compute& compute, const CopyStep& step);
Result<Compute> Apply(const Compute& compute, const CacheWriteStep& step);
/// Errors: also kIllegalSchedule, naming the dependence that the order of the parts violates.
Result<Compute> Apply(const Compute& compute, const IndexSplitStep& step,
                      ReductionOrder order = ReductionOrder::kAny);
Result<Compute> Apply(const Compute& compute, const ReduceSplitStep& step);
Result<Compute> Apply(const Compute& compute, const InlineStep& step);
Result<Compute> Apply(const Compute& compute, const PrecisionStep& step);
Result<Compute> Apply(const Compute& compute, const NarrowStep& step);
Result<Compute> Apply(const Compute& compute, const WidenStep& step);
Result<Compute> Apply(const Compute& compute, const HoistStep& step);
/// Errors: also kIllegalSchedule, naming a condition of the domain, where what it kept out may not
/// be multiplied by 0.
Result<Compute> Apply(const Compute& compute, const PadStep& step,
                      ReductionOrder order = ReductionOrder::kAny);

/// The tensors of f32 whose elements the statement multiplies and sums up: what `precision` splits
/// into several terms. None of any other statement.
std::vector<TensorId> SplitOperands(const Statement& statement);

/// Gives the statement an iterator for each dimension, d0, d1, ...; returns the index of the
/// element that they name.
std::vector<IndexExpr> AddElementIterators(const std::vector<int64_t>& shape, Statement& statement);

/// Whether an index is constants and different iterators, so that instances that differ in a
/// written iterator write different elements.
bool NamesDimensions(const std::vector<IndexExpr>& index);

/// Whether the statement makes workspace of a constant, and so is run once, when compiling: only
/// what `pack`, `precision` and `widen` make of arguments.
bool IsMadeOfConstant(const Compute& compute, const Statement& statement);

/// The Compute without the tensors that no statement uses; outputs stay.
Compute RemoveUnusedTensors(const Compute& compute);

}  // namespace tunec
