// For which sizes there is code, and which of it a run takes.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/sized/size_formula.h"
#include "graph/cost/fusion_machine.h"
#include "graph/graph.h"

namespace tunec {

inline constexpr int64_t kEachSizeUpTo = 8;
/// The sizes that are compiled for, of one dimension. Up to 8 each; beyond, four in each doubling,
/// so that at most a quarter is computed in vain.
int64_t RoundUpSize(int64_t size);
/// The same among some sizes, ascending; RoundUpSize beyond them.
int64_t RoundUpSize(int64_t size, const std::vector<int64_t>& listed);

/// Parts of a size along which a run may be cut: from the largest of the sizes down, the last one
/// rounded up.
std::vector<int64_t> CutSize(int64_t size, const std::vector<int64_t>& parts);

/// How many of the graph's runs are worth joining: the least power of two for which reading the
/// weights and launching kernels does not take longer than the arithmetic.
int64_t WorthJoining(const Graph& graph, const FusionMachine& machine);

}  // namespace tunec
