// Definition of tunec_graph, the C interface's handle of a graph that is built.
#pragma once

#include <string>
#include <utility>

#include "graph/graph.h"
#include "support/error.h"

/// A graph under construction. Its weights have types, but no elements.
struct tunec_graph {
  explicit tunec_graph(std::string name) : builder(std::move(name)) {}

  /// Returns the graph without dead nodes. Fails if it has no output. The result may share data
  /// with the builder, so it must not be retained.
  tunec::Result<tunec::Graph> Live() const;

  tunec::GraphBuilder builder;
  std::string text;        // the latest result of tunec_graph_print
  std::string conditions;  // of tunec_graph_conditions
  std::string extent;      // of tunec_graph_extent
};
