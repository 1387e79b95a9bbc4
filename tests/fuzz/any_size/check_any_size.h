// A check of a dynamic-shape model that is compiled for ranges or listed sizes. Runs are compared
// with the reference execution of the graph at the run's sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/sized/sized_source.h"
#include "runtime/sized/choose_sizes.h"
#include "tests/fuzz/check_graph.h"

namespace tunec::fuzz {

/// The listed sizes of each dimension, and the sizes of the runs.
struct SizedRuns {
  std::vector<ListedSizes> listed;
  std::vector<Sizes> runs;
};
SizedRuns DrawRuns(uint64_t seed, size_t dimensions);

/// Compiles the model of `source` and compares its runs with reference executions of `exact`. Skips
/// sizes at which `exact` has no graph or the reference execution fails.
CheckResult CheckAnySize(const SizedSource& source, const SizedRuns& runs, uint64_t seed,
                         const SizedSource& exact);

/// Checks the random model and the random runs of this seed.
CheckResult CheckAnySize(uint64_t seed);

}  // namespace tunec::fuzz
