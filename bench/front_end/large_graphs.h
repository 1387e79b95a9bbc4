// Graphs of any size, of the shapes that passes meet.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace tunec::bench {

struct LargeGraph {
  std::string_view name;
  /// With about `nodes` nodes beside inputs and constants.
  Graph (*make)(int64_t nodes);
};

/// A chain, a wide tree, one value with many readers, one constant with many readers, many outputs,
/// blocks of convolutions and of transformers, shape arithmetic, constants to fold.
std::span<const LargeGraph> LargeGraphs();

}  // namespace tunec::bench
