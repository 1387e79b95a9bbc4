// A function that applies layouts other than row-major to a dynamic-shape model.
#pragma once

#include "compiler/sized/sized_source.h"
#include "graph/edge_layouts.h"
#include "support/error.h"

namespace tunec {

/// Returns a source that applies ApplyEdgeLayouts to each graph of `source`. The dynamic axes of an
/// input are numbered in the order of its memory layout.
Result<SizedSource> ApplySourceLayouts(SizedSource source, const EdgeLayouts& layouts);

}  // namespace tunec
