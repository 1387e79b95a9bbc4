// Checks of the indices of gathers. The range is -extent to extent-1; negative indices count from
// the end. Constants out of range are a compile error. Data out of range is clamped to the nearest
// index in range at run time, and counted.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Data that a gather uses as indices into an axis of `extent` elements: an input of the graph, or
/// one of its outputs.
struct UnprovenIndices {
  enum class Place { kInput, kOutput };
  std::string node;  // name of the gather
  int64_t extent = 0;
  Place place = Place::kInput;
  size_t position = 0;  // among the inputs or outputs
};

struct CheckedGraph {
  Graph graph;
  size_t outputs = 0;  // number of the model's outputs; later ones are outputs only for the checks
  std::vector<UnprovenIndices> unproven;
};

/// Lists the indices that are not proven to be in range. Computed indices become outputs after the
/// graph's own. Gathers with the same indices into axes of one extent share a check. Fails if
/// constants are out of range. Requires: fixed shapes.
Result<CheckedGraph> AddIndexChecks(const Graph& graph);

/// Fails if a gather has constant indices out of range.
Status CheckConstantIndices(const Graph& graph);

/// Fails with the first index out of range.
Status CheckIndices(const Array& indices, int64_t extent);

}  // namespace tunec
