// The float64 oracle of one workload: its random arguments and what its outputs have to be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/judge/arguments.h"
#include "autotune/judge/check.h"
#include "ir/compute.h"
#include "ir/target.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

struct Oracle {
  std::vector<Array> arguments;     // inputs and weights in tensor order
  std::vector<OutputJudge> judges;  // outputs in tensor order
  std::optional<double> magnitude;  // max sum|a*b| of the last contraction
};

/// Computes the unscheduled compute with all floats in float64, and once more in its own types
/// sequentially, both compiled for the target's host with a plain schedule that keeps the order of
/// every reduction. Where outputs are behind steps, a third time in float64 with the errors carried
/// along.
/// Cost: about four times a scalar evaluation, behind steps ten, divided by vectors and threads.
/// Errors: those of compilation; kResourceLimit without memory.
Result<Oracle> ComputeOracle(const Compute& compute, const Accuracy& accuracy, uint64_t seed,
                             const Target& target, ThreadPool& pool);
/// The same for given inputs and weights, in tensor order.
Result<Oracle> ComputeOracleFor(const Compute& compute, std::vector<Array> arguments,
                                const Accuracy& accuracy, const Target& target, ThreadPool& pool);

}  // namespace tunec
