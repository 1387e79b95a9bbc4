// Which values a graph's inputs decide, and which only pass others on.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Of each value, whether an input decides it. What constants alone make is folded.
std::vector<bool> ValuesOfData(const Graph& graph);

/// The value whose elements this one has, each once, as the same numbers.
ValueId SourceOf(const Graph& graph, ValueId value);

}  // namespace tunec
