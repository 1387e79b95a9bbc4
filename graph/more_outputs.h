// Values that become outputs.
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

/// A copy of `graph` with these values of it as further outputs, behind its own.
Result<Graph> WithMoreOutputs(const Graph& graph, const std::vector<NamedOutput>& outputs);

/// Rebuild (graph.h), and what leaves under an output's name in the place of `value`.
using OutputReplacement =
    std::function<Result<ValueId>(const std::string& name, ValueId value, GraphBuilder& builder)>;
Result<Graph> RebuildWithOutputs(const Graph& graph, const NodeReplacement& replace,
                                 const OutputReplacement& replace_output);

}  // namespace tunec
