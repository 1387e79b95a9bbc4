// A model of several sizes whose tensors do not lie in row-major order.
#pragma once

#include "compiler/sized/sized_source.h"
#include "graph/edge_layouts.h"
#include "support/error.h"

namespace tunec {

/// LayEdges for each of its graphs. Open axes stay what they are of the laid inputs.
Result<SizedSource> LaySource(SizedSource source, const EdgeLayouts& layouts);

}  // namespace tunec
