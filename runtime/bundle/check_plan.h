// A check that an untrusted plan accesses only its buffers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/bundle/stored_plan.h"
#include "support/error.h"

namespace tunec::bundle {

/// The kernels that the preprocessing steps and the run steps name by number. For a variant that
/// runs on the host, both lists are the same.
struct PlanKernels {
  const std::vector<KernelContract>& preprocessing;
  const std::vector<KernelContract>& steps;
};

/// Checks a plan in addition to Verify (runtime/executable_plan.h). Ensures:
///   1. Constants that are in the file are within the weights, at multiples of 64.
///   2. A step is a copy, or has a kernel of the table and the kernel's number of arguments.
///   3. Each argument has at least the bytes and the alignment that its kernel requires.
///   4. Run steps write only outputs and the arena. Preprocessing steps write only constants that
///      are not in the file, because the file is mapped read-only.
///   5. Arguments that a kernel uses as indices without a check are constants of the file, with
///      values in the kernel's range.
///   6. The number of threads is 1 to 4096.
///   7. Indices that are checked after a run are aligned to their type.
/// Fails with kParse; the message names the step or constant at fault, if there is one. Fails with
/// kInvalidArgument for a too large tensor that a step or an index check names.
Status CheckPlan(const StoredPlan& plan, const PlanKernels& kernels,
                 std::span<const std::byte> weights);

}  // namespace tunec::bundle
