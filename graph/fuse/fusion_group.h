// A group of nodes that becomes one kernel, with its inputs and outputs.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"
#include "ir/data_type.h"

namespace tunec {

struct FusionGroup {
  std::vector<NodeId> nodes;     // in graph order
  std::vector<ValueId> inputs;   // values of other nodes, also constants, in order of first use
  std::vector<ValueId> outputs;  // values that other groups or the caller read, in graph order
  /// Layouts of inputs and outputs that are stored within another value's storage.
  std::map<ValueId, Layout> layouts;
  /// Types of inputs and outputs that are stored in a type other than their own (store_as_bf16.h).
  std::map<ValueId, DataType> stored;
};

/// Returns the type in which the value of the graph is stored in memory.
DataType StoredTypeOf(const Graph& graph, const std::map<ValueId, DataType>& stored, ValueId value);

}  // namespace tunec
