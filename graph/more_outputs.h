// Values that become outputs.
#pragma once

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

}  // namespace tunec
