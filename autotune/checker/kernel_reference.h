// Computation of one workload's reference: arguments, and their expected outputs in float64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/checker/arguments.h"
#include "autotune/checker/check.h"
#include "ir/compute.h"
#include "ir/target.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

struct KernelReference {
  std::vector<Array> arguments;         // inputs and weights in tensor order
  std::vector<OutputChecker> checkers;  // outputs in tensor order
  std::optional<double> magnitude;      // max sum|a*b| of the last contraction
};

/// Computes the reference. The compute is evaluated with all floats in float64, and sequentially
/// in its own types. Both evaluations are compiled for the target's host with a plain schedule that
/// preserves the order of every reduction. If some results are not finite, positive arguments are
/// tried too. If outputs have errors from steps, another evaluation in float64 also propagates the
/// errors. The cost is about four scalar evaluations, or ten with steps, divided by the numbers of
/// lanes and threads. Errors: those of compilation; kResourceLimit without memory.
Result<KernelReference> ComputeKernelReference(const Compute& compute, const Accuracy& accuracy,
                                               uint64_t seed, const Target& target,
                                               ThreadPool& pool);
/// Computes the same as ComputeKernelReference for given inputs and weights, in tensor order.
Result<KernelReference> ComputeKernelReferenceFor(const Compute& compute,
                                                  std::vector<Array> arguments,
                                                  const Accuracy& accuracy, const Target& target,
                                                  ThreadPool& pool);

}  // namespace tunec
