// A check of a dynamic-shape model: compiled for ranges or listed sizes, each run must equal the
// reference for the graph of its sizes.
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

/// Checks the model of `source`. Its outputs are compared with those of the graphs of `exact`.
CheckResult CheckAnySize(const SizedSource& source, const SizedRuns& runs, uint64_t seed,
                         const SizedSource& exact);

/// Checks the model of this seed.
CheckResult CheckAnySize(uint64_t seed);

}  // namespace tunec::fuzz
