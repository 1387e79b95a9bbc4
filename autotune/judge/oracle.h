// The float64 reference of one workload: random arguments and expected outputs.
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

/// Computes the reference. The unscheduled compute is evaluated twice: with all floats in float64,
/// and sequentially in its own types. Both are compiled for the target's host with a plain schedule
/// that preserves the order of every reduction. If outputs come after steps, a third evaluation in
/// float64 also propagates the errors.
/// Cost: about four times a scalar evaluation, ten times with steps, divided by vectors and
/// threads. Errors: those of compilation; kResourceLimit without memory.
Result<Oracle> ComputeOracle(const Compute& compute, const Accuracy& accuracy, uint64_t seed,
                             const Target& target, ThreadPool& pool);
/// Computes the same as ComputeOracle for given inputs and weights, in tensor order.
Result<Oracle> ComputeOracleFor(const Compute& compute, std::vector<Array> arguments,
                                const Accuracy& accuracy, const Target& target, ThreadPool& pool);

}  // namespace tunec
