// Functions that follow data flow. One finds the values that depend on inputs. The other finds the
// source of a copied value.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace tunec {

/// Returns for each value whether it depends on an input of the graph.
std::vector<bool> ValuesOfData(const Graph& graph);

/// Returns the value from which `value` was copied by identities, reshapes, transposes and widening
/// casts of integers, or `value` itself. Both have the same elements, possibly in another order.
ValueId SourceOf(const Graph& graph, ValueId value);

}  // namespace tunec
