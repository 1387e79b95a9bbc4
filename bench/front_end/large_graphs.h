// Generators of large graphs, such as long chains, wide trees and values with many readers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace tunec::bench {

struct LargeGraph {
  std::string_view name;
  /// Makes a graph with about `nodes` nodes beside inputs and constants.
  Graph (*make)(int64_t nodes);
};

/// Returns the generators: a chain, a wide tree, a value with many readers, many readers of one
/// constant, convolution blocks, transformer blocks, shape operators, and constants to fold.
std::span<const LargeGraph> LargeGraphs();

}  // namespace tunec::bench
