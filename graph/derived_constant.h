// Constants that passes and rules make.
#pragma once

#include <string>

#include "graph/graph.h"

namespace tunec {

/// A constant made by a pass. Large ones are given a name in the weights file, so that text
/// stays text.
ValueId AddDerivedConstant(GraphBuilder& builder, const std::string& name, Array array);

}  // namespace tunec
