// Sampling of a LoopNest's executed stores and of the loops around them.
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

/// One execution of a store, with the number of executions that it represents.
struct SampledStore {
  const Store& store;
  double count = 1;                    // summed over all threads
  std::span<const RunningLoop> loops;  // loops around the store, outermost first
  std::span<const int64_t> point;      // the values of the nest's variables
  const Tile* tile = nullptr;          // tile around the store, or null
};

/// Calls `visit` for a sample of the executions of each store of a body; the counts add up to all
/// executions. A loop multiplies the counts inside it if no inner bound or condition mentions its
/// variable. Any other loop is walked; a long walk visits an even sample (tile loops with a ragged
/// last tile stay exact). `variables` is the number of variables of the nest.
void SampleInstances(const Body& body, size_t variables,
                     const std::function<void(const SampledStore&)>& visit);

}  // namespace tunec
