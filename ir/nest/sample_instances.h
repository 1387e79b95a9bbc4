// A walk over samples of the stores that a LoopNest executes, with the loops around them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ir/loop_nest.h"

namespace tunec {

/// A loop that is being executed.
struct RunningLoop {
  const Loop* loop = nullptr;
  int64_t extent = 0;  // extent in this execution
};

/// One execution of a store, and the number of executions that it represents.
struct SampledStore {
  const Store& store;
  double count = 1;                    // summed over all threads
  std::span<const RunningLoop> loops;  // loops around the store, outermost first
  std::span<const int64_t> point;      // the values of the nest's variables
  const Tile* tile = nullptr;          // tile around the store, or null
};

/// Calls `visit` for a sample of the executions of each store of a body. The counts add up to the
/// number of all executions, or to an estimate. If no inner bound or condition uses a loop's
/// variable, one iteration of the loop stands for all. Any other loop is walked, with at most 4096
/// evenly spaced iterations, or 4 once 4096 iterations of all loops together have been walked. The
/// last iteration is always among them, because it may have a smaller tile. Conditions on loaded
/// values count as true. `variables` is the number of variables of the nest.
void SampleInstances(const Body& body, size_t variables,
                     const std::function<void(const SampledStore&)>& visit);

}  // namespace tunec
