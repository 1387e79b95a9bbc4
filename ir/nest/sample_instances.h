// How often the stores of a LoopNest are executed, and around which loops.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ir/loop_nest.h"

namespace tunec {

/// A loop that is being executed.
struct RunningLoop {
  const Loop* loop = nullptr;
  int64_t extent = 0;  // of this execution
};

/// One execution of a store, and how many it stands for.
struct SampledStore {
  const Store& store;
  double count = 1;                    // over all threads
  std::span<const RunningLoop> loops;  // around it, outermost first
  std::span<const int64_t> point;      // the values of the nest's variables
  const Tile* tile = nullptr;          // that it is in
};

/// Calls `visit` for executions of each store of a body, whose counts sum up to all of them. A loop
/// whose variable no inner bound or condition mentions multiplies what is inside it; any other is
/// walked, evenly sampled once a walk has become long (tile loops with a ragged last tile stay
/// exact). `variables`: how many the nest has.
void SampleInstances(const Body& body, size_t variables,
                     const std::function<void(const SampledStore&)>& visit);

}  // namespace tunec
