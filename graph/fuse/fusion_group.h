// The nodes that become one kernel.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"
#include "ir/data_type.h"

namespace tunec {

struct FusionGroup {
  std::vector<NodeId> nodes;     // in graph order
  std::vector<ValueId> inputs;   // read from outside, in order of first use; constants included
  std::vector<ValueId> outputs;  // read outside or graph outputs, in graph order
  /// How inputs and outputs are stored that lie within another value's storage.
  std::map<ValueId, Layout> layouts;
  /// Inputs and outputs that are stored in another type than theirs (store_terms.h).
  std::map<ValueId, DataType> stored;
};

/// The type that the value of the graph has in memory.
DataType StoredTypeOf(const Graph& graph, const std::map<ValueId, DataType>& stored, ValueId value);

}  // namespace tunec
