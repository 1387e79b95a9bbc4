// Tables about the structure of a graph: who depends on whom, counts, residual connections.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// A row per node: what it depends on, and what uses it.
TextTable DependencyTable(const Graph& graph);

/// A row per operator: kind, and how many.
TextTable OperatorCountTable(const Graph& graph);

/// A residual (skip) connection: an addition or concatenation whose operands come from one value by
/// ways of different length, the longer one through a contraction.
struct Residual {
  NodeId join;
  ValueId from;                // the last value that both ways come from
  std::vector<NodeId> around;  // the longer way, in order, without the join
  std::vector<NodeId> skip;    // the shorter way; empty: the value itself
};
/// In graph order. Near-linear: for each join the nodes between it and where its ways part.
std::vector<Residual> FindResiduals(const Graph& graph);
TextTable ResidualTable(const Graph& graph, const std::vector<Residual>& residuals);

}  // namespace tunec
