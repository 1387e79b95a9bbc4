// Functions that give numbers to the named sizes of a graph, and list what inference assumes.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/size/size_condition.h"
#include "ir/size/size_expr.h"

namespace tunec {

/// Returns the graph with numbers for named sizes, in the types of inputs and in attributes. The
/// other types are inferred again, which checks them at these sizes. Names without a number stay.
/// Takes O(nodes). Errors: a size below 0, and those of inference, with the node.
Result<Graph> Specialize(const Graph& graph, const SizeValues& sizes);

/// Returns what inference assumes about the named sizes, each condition once, in the order of the
/// nodes. At sizes for which all conditions hold, Specialize succeeds, unless a shape has more than
/// 2^48 elements.
std::vector<SizeCondition> ConditionsOf(const Graph& graph);

/// Returns whether all conditions hold. A condition without a value, such as one of a name that has
/// no size, does not hold.
bool AllHold(const std::vector<SizeCondition>& conditions, const SizeValues& sizes);

/// Returns the graph with one named size replaced by another. Errors: those of inference.
Result<Graph> RenameSize(const Graph& graph, const std::string& from, const std::string& to);

}  // namespace tunec
