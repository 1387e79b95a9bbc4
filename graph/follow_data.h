// Data flow from inputs: values that the inputs decide, and values that copy others.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Returns for each value whether an input decides it. Values of constants only are folded.
std::vector<bool> ValuesOfData(const Graph& graph);

/// Returns the value that has the same elements as `value`, each once, with the same numbers.
ValueId SourceOf(const Graph& graph, ValueId value);

}  // namespace tunec
