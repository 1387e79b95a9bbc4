// A function by which passes and rules add constants to a graph.
#pragma once

#include <string>

#include "graph/graph.h"

namespace tunec {

/// Adds a constant made by a pass or rule. A constant of more than 16 elements gets a name in the
/// weights file, so that the graph's text does not contain the elements.
ValueId AddDerivedConstant(GraphBuilder& builder, const std::string& name, Array array);

}  // namespace tunec
