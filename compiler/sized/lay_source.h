// Layouts other than row-major for dynamic-shape models.
#pragma once

#include "compiler/sized/sized_source.h"
#include "graph/edge_layouts.h"
#include "support/error.h"

namespace tunec {

/// Applies ApplyEdgeLayouts to each graph of the source, and changes the numbers of dynamic axes to
/// those of the inputs' layouts.
Result<SizedSource> ApplySourceLayouts(SizedSource source, const EdgeLayouts& layouts);

}  // namespace tunec
