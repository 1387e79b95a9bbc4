// Adds outputs to a graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tunec {

struct NamedOutput {
  ValueId value;
  std::string name;
};

/// Returns a copy of `graph` with these values as additional outputs, after the existing ones.
Result<Graph> WithMoreOutputs(const Graph& graph, const std::vector<NamedOutput>& outputs);

/// Rebuilds a graph (graph.h) and then calls `replace_output` for each output. `replace_output`
/// returns the value to output as `name` in place of `value`; both are values of the new graph.
using OutputReplacement =
    std::function<Result<ValueId>(const std::string& name, ValueId value, GraphBuilder& builder)>;
Result<Graph> RebuildWithOutputs(const Graph& graph, const NodeReplacement& replace,
                                 const OutputReplacement& replace_output);

}  // namespace tunec
