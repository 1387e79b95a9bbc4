// Functions that copy a graph with additional or replaced outputs.
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

/// A function that returns the value to output as `name` in place of `value`. Both are values of
/// the new graph.
using OutputReplacement =
    std::function<Result<ValueId>(const std::string& name, ValueId value, GraphBuilder& builder)>;
/// Rebuilds a graph (Rebuild), with `replace_output` called for each output after all nodes.
Result<Graph> RebuildWithOutputs(const Graph& graph, const NodeReplacement& replace,
                                 const OutputReplacement& replace_output);

}  // namespace tunec
