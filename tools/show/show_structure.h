// Formats the structure of a graph: dependencies, operator counts, residual connections.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Returns a row per node: its operands and its users.
TextTable DependencyTable(const Graph& graph);

/// Returns a row per operator: kind and count.
TextTable OperatorCountTable(const Graph& graph);

/// A residual (skip) connection: an addition or concatenation of operands that come from one value
/// by paths of different length. The longer path contains a contraction.
struct Residual {
  NodeId join;
  ValueId from;                // last value on both paths
  std::vector<NodeId> around;  // longer path, in order, without the join
  std::vector<NodeId> skip;    // shorter path; empty: the value itself
};
/// Returns residual connections in graph order. Near-linear: visits, for each join, the nodes
/// between the join and the fork of its paths.
std::vector<Residual> FindResiduals(const Graph& graph);
TextTable ResidualTable(const Graph& graph, const std::vector<Residual>& residuals);

}  // namespace tunec
