// For passes that decide node by node within Rebuild.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Adds `node` with its attributes, name and place, but these inputs; its values keep their
/// names and layouts. Not for inputs and constants.
Result<std::vector<ValueId>> CopyNode(const Graph& graph, const Node& node,
                                      const std::vector<ValueId>& inputs, GraphBuilder& builder);

/// Whether both graphs are the same but for names and the bytes of constants.
bool SameStructure(const Graph& a, const Graph& b);

/// A constant made by a pass. Large ones are given a name in the weights file, so that text
/// stays text.
ValueId AddDerivedConstant(GraphBuilder& builder, const std::string& name, Array array);

}  // namespace tunec
