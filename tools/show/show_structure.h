// Functions that make tables of a graph's dependencies, operator counts and residual connections.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Returns a row for each node: producers of the operands, users of the results, and graph outputs.
TextTable DependencyTable(const Graph& graph);

/// Returns a table with the kind and the number of nodes of each operator in the graph.
TextTable OperatorCountTable(const Graph& graph);

/// A residual (skip) connection: an addition or concatenation with two operands that come from one
/// node by paths of different length. The longer path contains a contraction.
struct Residual {
  NodeId join;
  ValueId from;                // last value on both paths
  std::vector<NodeId> around;  // longer path, in order, without the join
  std::vector<NodeId> skip;    // shorter path; empty: the value itself
};
/// Returns residual connections in graph order of the joins. The time is nearly linear if the paths
/// are short.
std::vector<Residual> FindResiduals(const Graph& graph);
TextTable ResidualTable(const Graph& graph, const std::vector<Residual>& residuals);

}  // namespace tunec
