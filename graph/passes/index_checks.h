// Indices that gathers look elements up with. In range are -extent to extent-1, negative ones
// counting from the end. Constants out of range are an error when compiling; data are brought to
// the nearest index in range by whatever runs the graph, and counted.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Data that a gather indexes an axis of `extent` elements with: an input of the graph, or one of
/// its outputs.
struct UnprovenIndices {
  enum class Place { kInput, kOutput };
  std::string node;  // the gather
  int64_t extent = 0;
  Place place = Place::kInput;
  size_t position = 0;  // among the inputs or outputs
};

struct CheckedGraph {
  Graph graph;
  size_t outputs = 0;  // of the model; those behind them are there to be checked only
  std::vector<UnprovenIndices> unproven;
};

/// Lists the indices that are not proven to be in range. Those that are computed become outputs
/// behind the graph's own. An error for constants out of range. Requires: fixed shapes.
/// Ensures: gathers of the same indices from axes of one extent share a check.
Result<CheckedGraph> AddIndexChecks(const Graph& graph);

/// An error for a gather whose indices are constants out of range.
Status CheckConstantIndices(const Graph& graph);

/// An error that names the first index out of range.
Status CheckIndices(const Array& indices, int64_t extent);

}  // namespace tunec
