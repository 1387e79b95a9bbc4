// Checks of gather indices. Indices from -extent to extent-1 are in range; negative indices count
// from the end. A constant index out of range is a compile error. An index that depends on graph
// inputs is clamped to the nearest valid index when the graph runs, and counted if out of range.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Indices of a gather along an axis of `extent` elements that are not proven to be in range. The
/// indices are an input or an output of CheckedGraph::graph.
struct UnprovenIndices {
  enum class Port { kInput, kOutput };
  std::string node;  // name of the gather
  int64_t extent = 0;
  Port port = Port::kInput;
  size_t position = 0;  // index among the graph's inputs or outputs
};

struct CheckedGraph {
  Graph graph;
  size_t outputs = 0;  // number of outputs of the original graph, which come first; all further
                       // outputs exist only for checks
  std::vector<UnprovenIndices> unproven;
};

/// Returns the graph with the gather indices that depend on inputs and are not proven to be in
/// range. Indices that are not inputs themselves become outputs after the graph's own outputs.
/// Gathers with the same indices share a check if their axes have the same extent. Fails if
/// constant indices are out of range. Requires fixed shapes.
Result<CheckedGraph> AddIndexChecks(const Graph& graph);

/// Fails if a gather's indices are constants out of range.
Status CheckConstantIndices(const Graph& graph);

/// Fails if an element of `indices` is not between -extent and extent - 1. The message has the
/// first such element and its position.
Status CheckIndices(const Array& indices, int64_t extent);

}  // namespace tunec
