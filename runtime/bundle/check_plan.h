// Whether a plan that anyone may have written stays within its buffers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/bundle/stored_plan.h"
#include "support/error.h"

namespace tunec::bundle {

/// The kernels that steps name by their numbers. Of the host the two are the same.
struct PlanKernels {
  const std::vector<KernelContract>& prologue;
  const std::vector<KernelContract>& steps;
};

/// What Verify (runtime/executable_plan.h) cannot know. Ensures:
///  1. constants lie in the weights, at multiples of 64;
///  2. a step has a kernel of the table and as many arguments as it wants, or is a copy;
///  3. each argument has at least the bytes that its kernel touches and is aligned as that wants;
///  4. a kernel or a copy writes outputs and the arena only, in the prologue constants that lie in
///     no file, which are mapped and cannot be written;
///  5. what a kernel takes for indices without looking are constants of the file, in its range;
///  6. there are threads, and not more than anyone has;
///  7. indices that are looked at after a run are aligned to their type.
/// kParse names the step.
Status CheckPlan(const StoredPlan& plan, const PlanKernels& kernels,
                 std::span<const std::byte> weights);

}  // namespace tunec::bundle
