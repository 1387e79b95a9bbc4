// For passes that decide node by node within Rebuild.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Whether both graphs are the same but for names and the bytes of constants.
bool SameStructure(const Graph& a, const Graph& b);

/// A constant made by a pass. Large ones are given a name in the weights file, so that text
/// stays text.
ValueId AddDerivedConstant(GraphBuilder& builder, const std::string& name, Array array);

}  // namespace tunec
